"""Where a node lives, and what new things are called."""

from __future__ import annotations

import json

import pytest

from mpgraph import ir
from tests.ir import protos


def named(name, **metadata):
    node = ir.node("Relu", [], name=name)
    node.metadata_props.update(metadata)
    return node


@pytest.mark.parametrize(
    ("name", "scope"),
    [
        ("/layers.0/attention/query/MatMul", "layers/0/attention/query"),
        ("mymodel_1/block_0_1/d1_1/MatMul", "mymodel_1/block_0_1/d1_1"),
        ("/layers.0/ffn/ffn.2/ffn.2.0/Gemm", "layers/0/ffn/2/0"),
        ("/1/1.0/Gemm", "1/0"),
        ("/ffn/ffn2.0/Gemm", "ffn/ffn2/0"),
        ("encoder.layer.MatMul", "encoder/layer"),
        ("Add.118", ""),
        ("p2o.Add.118", ""),
        ("node_MatMul_1", ""),
        ("/MatMul", ""),
        ("//a//b", "a"),
        ("", ""),
        (None, ""),
    ],
)
def test_scope_from_the_node_name(name, scope):
    assert ir.module_scope(named(name)) == scope


def test_scope_from_torch_metadata():
    scopes = "['', 'encoder', 'encoder.layers.0', 'linear_1']"
    node = named("node_1", **{"pkg.torch.onnx.name_scopes": scopes, "namespace": "wrong"})
    assert ir.module_scope(node) == "encoder/layers/0"
    node = named("a/b", **{"pkg.torch.onnx.name_scopes": "['', 'relu']"})
    assert ir.module_scope(node) == ""
    for text in ("not a list", "['a', 3]", "{'a', 'b'}", "['a'", "['"):
        node = named("a/b", **{"pkg.torch.onnx.name_scopes": text})
        assert ir.module_scope(node) == "a"


@pytest.mark.parametrize(
    "modules",
    [["", "a.b", "op"], ["", "it's", "op"], ["", "a', 'b", "op"], ["", 'a"\\', "op"], ["op"]],
)
def test_name_scopes_are_read_however_their_texts_are_quoted(modules):
    expected = "/".join(ir.module_levels(modules[-2])) if len(modules) > 1 else ""
    for text in (repr(modules), repr(tuple(modules)), json.dumps(modules)):
        node = named("x/y", **{"pkg.torch.onnx.name_scopes": text})
        assert ir.module_scope(node) == expected


def test_name_scopes_without_blanks_are_read():
    node = named("x/y", **{"pkg.torch.onnx.name_scopes": "['','a','op']"})
    assert ir.module_scope(node) == "a"


def test_scope_from_namespace():
    text = ": Net/encoder: Encoder/encoder.layers.0: Layer/linear_1: aten.linear.default"
    assert ir.module_scope(named("node_1", namespace=text)) == "encoder/layers/0"
    assert ir.module_scope(named("node_1", namespace="encoder/block.1")) == "encoder/block/1"


def test_describe():
    model = ir.load(protos.everything())
    assert ir.describe(model.graph[4]) == "clip (Clip)"
    assert ir.describe(model.graph[1], "main") == "If #1 in main"
    assert ir.describe(ir.node("Relu", [])) == "Relu outside of any graph"


def test_function_scope_has_its_own_imports():
    proto = protos.everything()
    proto.functions[0].opset_import[0].version = 15
    scopes = {scope.path: scope for scope in ir.graphs(ir.load(proto))}
    function = scopes["function:local::Scaled"]
    assert function.opset_imports[""] == 15
    assert function.function is not None
    inner = scopes["main/If_1.then_branch"]
    assert inner.opset_imports[""] == 17
    assert inner.owner is scopes["main"].graph[1]


@pytest.mark.parametrize("domain", ["", "ai.onnx"])
@pytest.mark.parametrize("key", ["", "ai.onnx"])
def test_opset_of_knows_both_names_of_the_default_domain(domain, key):
    assert ir.opset_of(domain, {key: 17, "x": 2}) == 17
    assert ir.opset_of("x", {key: 17, "x": 2}) == 2
    assert ir.opset_of("y", {key: 17, "x": 2}) is None


def test_namer_counts_nodes_and_values_apart():
    namer = ir.Namer(ir.load(protos.chain(2)))
    assert namer.value_name("n0") == "n0"
    assert namer.node_name("n0") == "n0_1"
    assert [namer.node_name("") for _ in range(3)] == ["node", "node_1", "node_2"]


def test_namer_skips_names_that_look_numbered():
    proto = protos.chain(2)
    proto.graph.node[0].name, proto.graph.node[1].name = "a", "a_1"
    namer = ir.Namer(ir.load(proto))
    assert [namer.node_name("a"), namer.node_name("a")] == ["a_2", "a_3"]


def test_provenance():
    node = ir.node("Relu", [])
    assert ir.origin(node) is None
    ir.stamp(node, "insert-casts", "edge")
    assert ir.origin(node) == ("insert-casts", "edge")
    assert node.metadata_props == {"mpgraph.pass": "insert-casts", "mpgraph.rule": "edge"}
