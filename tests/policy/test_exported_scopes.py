"""Selectors of modules on what torch and tf2onnx leave of them."""

from __future__ import annotations

import pytest

from mpgraph import ir
from mpgraph.errors import PolicyError
from mpgraph.policy import PolicyMap, Resolver, node_facts
from tests.policy import exported

TORCH = {
    "torchscript": exported.torchscript,
    "torch.export": exported.torch_export,
    "torch.export, namespace only": lambda: exported.torch_export(only_namespace=True),
}


def selected(model, selector):
    """The positions of the nodes that a selector selects."""
    policy = PolicyMap("float32", {selector: "float16"})
    resolver = Resolver(policy)
    facts = list(node_facts(model, policy).values())
    resolver.check_all_matched(facts)
    return [index for index, one in enumerate(facts) if resolver.resolve(one).explicit]


@pytest.mark.parametrize("exporter", TORCH)
def test_torch_modules_are_those_of_named_modules(exporter):
    found = [ir.module_scope(node) for node in TORCH[exporter]().graph]
    block = ["attention/query", "attention", "ffn/0", "ffn/1", "ffn/2/0", "ffn/2/1", ""]
    expected = [f"layers/{i}/{part}".rstrip("/") for i in (0, 1) for part in block]
    assert found == [*expected, "head", ""]
    assert not any(ir.module_alias(node) for node in TORCH[exporter]().graph)


@pytest.mark.parametrize("exporter", TORCH)
@pytest.mark.parametrize(
    ("selector", "positions"),
    [
        ("scope:layers.0.attention.query", [0]),
        ("scope:layers/0/attention/query", [0]),
        ("scope:layers.*.attention", [1, 8]),
        ("scope:layers.*.attention.**", [0, 1, 7, 8]),
        ("scope:layers.1.**", [7, 8, 9, 10, 11, 12, 13]),
        ("scope:layers.0.ffn.0", [2]),
        ("scope:layers.0.ffn.2.**", [4, 5]),
        ("scope:/layers.0/ffn/ffn.2/ffn.2.0", [4]),
        ("scope:/layers.*/ffn/ffn.*", [2, 3, 9, 10]),
        ("scope:**/ffn/*", [2, 3, 9, 10]),
        ("scope:re:layers/\\d/ffn/0", [2, 9]),
        ("re:layers/\\d/ffn/0", [2, 9]),
        ("scope:head", [14]),
    ],
)
def test_one_selector_selects_the_same_nodes_of_each_torch_exporter(exporter, selector, positions):
    assert selected(TORCH[exporter](), selector) == positions


@pytest.mark.parametrize(
    ("selector", "positions"),
    [
        ("scope:mymodel/block_0/d1", [0, 1]),
        ("scope:mymodel_1/block_0_1/d1_1", [0, 1]),
        ("scope:mymodel.block_1.**", [5, 6, 7, 8, 9]),
        ("scope:mymodel_1/block_1_1/**", [5, 6, 7, 8, 9]),
        ("scope:mymodel/*/ffn/dense", [3, 8]),
        ("scope:**/ffn/**", [3, 4, 8, 9]),
        ("re:mymodel/block_./d2", [2, 7]),
        ("scope:mymodel/probs", [10]),
    ],
)
def test_keras_layers_by_their_own_names_and_by_those_of_tf2onnx(selector, positions):
    assert selected(exported.tf2onnx(), selector) == positions


def test_a_rule_that_matches_nothing_names_the_layer_as_its_author_does():
    with pytest.raises(PolicyError) as caught:
        selected(exported.tf2onnx(), "scope:mymodel/block_0/d9")
    assert "scope:mymodel/block_0/d1" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "alias"),
    [
        ("a_1/b_1/MatMul", "a/b"),
        ("a_1/b_2/MatMul", ""),
        ("a_1/MatMul_1", ""),
        ("/a_1/b_1/MatMul", ""),
        ("a/b_1/MatMul", ""),
        ("MatMul_1", ""),
        ("", ""),
    ],
)
def test_only_names_of_which_all_levels_are_numbered_have_an_alias(name, alias):
    assert ir.module_alias(ir.node("Relu", [], name=name)) == alias


def test_metadata_leaves_no_alias():
    node = ir.node("Relu", [], name="a_1/b_1/MatMul")
    node.metadata_props["namespace"] = "x"
    assert ir.module_alias(node) == ""
