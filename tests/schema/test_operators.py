"""Schema lookup: versions, contrib operators, ai.onnx.ml, and schemas that a user registers."""

from __future__ import annotations

import gzip
import json
from importlib import resources

import onnx
import onnx_ir
import pytest

from mpgraph import ir
from mpgraph.schema import Operator, Parameter, lookup, operators, register, schema_gap
from mpgraph.schema.snapshot import contrib_operators


@pytest.fixture
def registry(monkeypatch):
    """An own registry of user schemas, forgotten after the test."""
    monkeypatch.setattr(operators, "_registered", {})
    lookup.cache_clear()
    yield
    lookup.cache_clear()


def fancy(since=1, types=("tensor(float)", "tensor(float16)")):
    return Operator(
        "com.example",
        "Fancy",
        since,
        (Parameter("X", "T"),),
        (Parameter("Y", "T"),),
        {"T": frozenset(types)},
    )


def test_every_specified_operator_is_found_as_specified():
    for schema in onnx.defs.get_all_schemas():
        found = lookup(schema.domain, schema.name, schema.since_version)
        assert found is not None, schema.name
        assert found.since_version == schema.since_version
        assert [one.type for one in found.inputs] == [one.type_str for one in schema.inputs]
        assert [one.type for one in found.outputs] == [one.type_str for one in schema.outputs]
        for constraint in schema.type_constraints:
            assert found.variables[constraint.type_param_str] == set(constraint.allowed_type_strs)


@pytest.mark.parametrize(
    ("opset", "since"), [(7, 1), (10, 1), (11, 11), (12, 11), (13, 13), (25, 13)]
)
def test_the_opset_selects_the_version(opset, since):
    assert lookup("", "Softmax", opset).since_version == since


def test_an_operator_newer_than_the_opset_is_unknown():
    assert lookup("", "LayerNormalization", 16) is None
    assert lookup("", "LayerNormalization", 17) is not None


@pytest.mark.parametrize(
    ("domain", "op_type"), [("", "NoSuch"), ("com.example", "Fancy"), ("com.microsoft", "NoSuch")]
)
def test_unknown_operators_have_no_schema(domain, op_type):
    assert lookup(domain, op_type, 20) is None


@pytest.mark.parametrize(
    ("domain", "op_type", "low"),
    [
        ("com.microsoft", "FusedMatMul", "tensor(float16)"),
        ("com.microsoft", "MultiHeadAttention", "tensor(float16)"),
        ("com.microsoft", "SkipLayerNormalization", "tensor(float16)"),
        ("com.microsoft", "BiasGelu", "tensor(float16)"),
    ],
)
def test_contrib_operators_have_type_variables(domain, op_type, low):
    found = lookup(domain, op_type, 1)
    assert low in found.variables[found.input(0).type]


def test_the_contrib_table_is_that_of_the_runtime_it_names():
    import onnxruntime

    packed = resources.files("mpgraph.schema").joinpath("data/contrib.json.gz").read_bytes()
    shipped = json.loads(gzip.decompress(packed))
    live = contrib_operators()
    if shipped["onnxruntime"] != onnxruntime.__version__:
        pytest.skip(f"the table is of onnxruntime {shipped['onnxruntime']}")
    key = ("domain", "name", "since")
    known = {tuple(one[name] for name in key): one for one in shipped["operators"]}
    assert len(known) == len(shipped["operators"])
    for one in live["operators"]:
        assert known[tuple(one[name] for name in key)] == one


def test_fixed_and_variadic_parameters():
    resize = lookup("", "Resize", 18)
    assert resize.input(0).type in resize.variables
    assert resize.input(2).type == "tensor(float)"
    assert resize.input(4) is None
    concat = lookup("", "Concat", 13)
    assert concat.input(7) == concat.input(0)
    assert concat.input(7).homogeneous
    loop = lookup("", "Loop", 16)
    assert not loop.input(5).homogeneous


def test_a_registered_schema_is_found_at_once(registry):
    assert lookup("com.example", "Fancy", 3) is None
    register(fancy())
    assert lookup("com.example", "Fancy", 3) == fancy()


def test_versions_of_a_registered_schema(registry):
    register(fancy(since=4, types=("tensor(float)",)))
    register(fancy(since=1))
    assert lookup("com.example", "Fancy", 3).since_version == 1
    assert lookup("com.example", "Fancy", 4).since_version == 4
    assert lookup("com.example", "Fancy", 9).variables["T"] == {"tensor(float)"}
    register(fancy(since=4, types=("tensor(bfloat16)",)))
    assert lookup("com.example", "Fancy", 9).variables["T"] == {"tensor(bfloat16)"}


def test_a_registered_schema_wins_over_the_specification(registry):
    register(Operator("", "Relu", 1, (Parameter("X", "Q"),), (), {"Q": frozenset()}))
    assert lookup("", "Relu", 20).input(0).type == "Q"


@pytest.mark.parametrize(
    ("text", "names_a_gap"),
    [
        ("y = MeanVarianceNormalization (x)", True),
        ("y = Relu (x)", False),
        ("y, k, v, s = Attention (x, x, x)", False),
        ("y, k, v, s = Attention <is_causal = 1> (x, x, x)", True),
        ("y, k, v, s = Attention (x, x, x, x)", True),
        ("y = Attention <is_causal = 1> (x, x, x)", False),
        ("y = BitCast <to = 1> (x)", True),
    ],
)
def test_what_a_schema_allows_but_its_definition_cannot_hold(text, names_a_gap):
    graph = onnx.parser.parse_graph(f"g (float[1,2,3,4] x) => (float y) {{ {text} }}")
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 26)])
    node = onnx_ir.serde.deserialize_model(model).graph[0]
    for dtype in (ir.DataType.FLOAT16, ir.DataType.BFLOAT16):
        assert bool(schema_gap(node, dtype)) == names_a_gap
    assert not schema_gap(node, ir.DataType.FLOAT)
