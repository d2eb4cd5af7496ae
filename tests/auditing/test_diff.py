from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest

import models
import mpgraph
from mpgraph import ir
from mpgraph.auditing import AuditReport
from mpgraph.auditing.changes import KINDS
from mpgraph.auditing.diff import ModelDiff, diff_reports
from tests.report.audit_samples import inserted, renamed, transformer

TEXT = """
<ir_version: 10, opset_import: ["": 20]>
net (float[N, 4] x) => (float[N, 4] y)
<float[4, 4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}> {
    [first] h = MatMul(x, w)
    [soft] s = Softmax<axis = 1>(h)
    [last] y = Add(s, x)
}
"""


def told(before: object, after: object, **options: object) -> list[tuple[str, ...]]:
    diff = mpgraph.diff(before, after, **options)
    return [(one.kind, one.node, one.old, one.new) for one in diff.changes]


def parsed(*edits: tuple[str, str]) -> onnx.ModelProto:
    text = TEXT
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return onnx.parser.parse_model(text)


@pytest.mark.parametrize("name", models.builders())
def test_a_model_equals_itself(name: str) -> None:
    diff = mpgraph.diff(models.build(name), models.build(name))
    assert diff.equal
    assert diff.changes == ()
    assert diff.layers.changes == {}


def test_each_kind_is_told() -> None:
    assert told(parsed(), parsed(("axis = 1", "axis = 0"))) == [
        ("attributes", "soft (Softmax)", "axis=1", "axis=0")
    ]
    assert told(parsed(), parsed(("Softmax<axis = 1>", "Relu"))) == [
        ("operator", "soft (Relu)", "Softmax", "Relu")
    ]
    assert told(parsed(), parsed(("[soft]", "[other]"))) == [
        ("renamed", "other (Softmax)", "soft", "other")
    ]
    assert told(parsed(), parsed(("Add(s, x)", "Add(s, h)"))) == [
        ("operands", "last (Add)", "x", "h")
    ]
    assert told(parsed(), parsed((", 16}", ", 17}"))) == [
        ("weights", "first (MatMul)", "w [4, 4] in [1, 16]", "w [4, 4] in [1, 17]")
    ]
    assert told(parsed(), parsed(("[N, 4] x", "[2, 4] x"))) == [
        ("interface", "input x", "tensor(float) [N, 4]", "tensor(float) [2, 4]")
    ]
    gone = (" [last] y = Add(s, x)\n", ""), ("s = Softmax", "y = Softmax")
    assert told(parsed(), parsed(*gone)) == [("removed", "last (Add)", "Add", "")]
    assert told(parsed(*gone), parsed()) == [("inserted", "last (Add)", "", "Add")]


def test_without_weights_only_small_constants_are_compared() -> None:
    one, other = ir.load(models.build("mlp")), ir.load(models.build("mlp"))
    weight = next(
        value for value in other.graph.initializers.values() if value.const_value.nbytes > 1024
    )
    array = weight.const_value.numpy().copy()
    array[0] = 1e3
    weight.const_value = ir.tensor(array, name=weight.name)
    assert [kind for kind, *_ in told(one, other)] == ["weights"]
    assert told(one, other, weights=False) == []


def test_dtype_storage_and_provider_are_told_apart() -> None:
    before = transformer(10, low="float32", provider="CPUExecutionProvider")
    after = transformer(10, low="float16", provider="CUDAExecutionProvider")
    first = before.nodes[0].key
    assert {
        (one.kind, one.old, one.new)
        for one in diff_reports(before, after).changes
        if one.before == first
    } == {
        ("dtype", "float32", "float16"),
        ("storage", "float32", "float16"),
        ("provider", "CPUExecutionProvider", "CUDAExecutionProvider"),
    }


def test_an_unknown_placement_is_no_move() -> None:
    before, after = transformer(10), transformer(10, provider="CPUExecutionProvider")
    assert diff_reports(before, after).equal


@pytest.mark.parametrize(
    ("policy", "target", "moves"),
    [
        ("float16", "cpu", set()),
        ("float16", "webgpu", {("WebGpuExecutionProvider", "CPUExecutionProvider")}),
        ("bfloat16", "webgpu", {("WebGpuExecutionProvider", "CPUExecutionProvider")}),
    ],
)
def test_nodes_move_where_the_new_dtype_has_a_kernel(
    policy: str, target: str, moves: set[tuple[str, str]]
) -> None:
    before = models.build("lstm")
    after = mpgraph.convert(before, policy, target="cuda", verify="structure").model
    diff = mpgraph.diff(before, after, target=target)
    moved = [one for one in diff.changes if one.kind == "provider"]
    assert {(one.old, one.new) for one in moved} == moves
    providers = [
        {node.key: node.provider for node in report.nodes} for report in (diff.before, diff.after)
    ]
    for one in moved:
        assert (one.old, one.new) == (providers[0][one.before], providers[1][one.after])
    assert diff.layers.changes.get("provider", 0) == len(moved)
    without = mpgraph.diff(before, after)
    assert "provider" not in without.kinds


def test_nodes_that_nothing_runs_any_more_are_told() -> None:
    before = models.build("residual_cnn")
    after = mpgraph.convert(before, "bfloat16", target="cuda", verify="structure").model
    diff = mpgraph.diff(before, after, target="cpu")
    lost = {one.node for one in diff.changes if one.kind == "provider" and one.new == "no kernel"}
    assert "/head/Gemm (Gemm)" in lost
    audited = mpgraph.audit(after, target="cpu", select=["MPG401"]).hazards
    assert lost == {one.node for one in audited if one.key in {c.after for c in diff.changes}}
    assert "no kernel" not in {
        one.new for one in mpgraph.diff(before, after, target="cuda").changes
    }


def test_an_inserted_node_is_the_only_change_and_has_its_reason() -> None:
    before = transformer(40, scoped=False)
    after = inserted(before, 20)
    (one,) = diff_reports(before, after).changes
    assert (one.kind, one.before, one.after) == ("inserted", "", "main#20")
    assert (one.new, one.reason) == ("Cast", "insert-casts: asked for")
    (other,) = diff_reports(after, before).changes
    assert (other.kind, other.before, other.after) == ("removed", "main#20", "")


def of_conversion(name: str, **options: object) -> ModelDiff:
    model = models.build(name)
    return mpgraph.diff(model, mpgraph.convert(model, verify="structure", **options).model)


@pytest.mark.parametrize("name", ["residual_cnn", "decoder", "lstm", "loop_state", "functions"])
def test_a_conversion_inserts_casts_and_changes_dtypes(name: str) -> None:
    diff = of_conversion(name, policy="float16", target="cuda")
    assert set(diff.kinds) <= {"dtype", "storage", "weights", "inserted", "removed", "interface"}
    new = [one for one in diff.changes if one.kind == "inserted" and one.reason]
    assert all(one.new in ("Cast", "Constant") for one in new)
    counted = diff.after.totals.casts - diff.before.totals.casts
    gone = [one for one in diff.changes if one.kind == "removed" and one.old == "Cast"]
    assert sum(one.new == "Cast" for one in new) - len(gone) == counted


def test_layers_count_what_lies_in_and_below_them() -> None:
    before, after = transformer(40, low="float32"), transformer(40)
    diff = diff_reports(before, after)
    root = diff.layers
    assert root.changes == dict(diff.kinds)
    (encoder,) = root.children
    assert [child.name for child in encoder.children] == [f"layers.{at}" for at in range(4)]
    for layer in encoder.children:
        below = sum(sum(child.changes.values()) for child in layer.children)
        assert layer.own + below == sum(layer.changes.values())
        assert layer.before is not None and layer.after is not None
        assert layer.before.nodes["float32"] > layer.after.nodes["float32"]


def test_a_layer_of_one_model_alone_is_in_the_tree() -> None:
    diff = diff_reports(transformer(20), transformer(30))
    (encoder,) = diff.layers.children
    (new,) = encoder.children
    assert (new.name, new.before, new.changes["inserted"]) == ("layers.2", None, 10)


def test_names_given_to_nodes_without_any_are_told() -> None:
    before = transformer(10)
    blank: AuditReport = replace(
        before, nodes=tuple(replace(node, name="") for node in before.nodes)
    )
    diff = diff_reports(blank, renamed(before, "", ""))
    assert diff.kinds == {"renamed": 10}


def test_every_kind_has_a_meaning() -> None:
    assert all(KINDS.values())
    assert np.unique(list(KINDS.values())).size == len(KINDS)
