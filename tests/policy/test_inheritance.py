"""A rule that selects a node holds for what the node holds."""

from __future__ import annotations

import onnx
import pytest

import models
import mpgraph
from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.policy import PolicyMap, resolve_nodes

NESTED = """<ir_version: 10, opset_import: ["": 18, "l": 1]>
g (float[4] x, bool c) => (float[4] y) {
    [first] a = l.outer (x)
    [second] b = l.outer (a)
    [choice] y = If (c) <
        then_branch = t () => (float[4] p) { [negate] n = Neg (b) [pick] p = l.inner (n) },
        else_branch = e () => (float[4] q) { [tanh] q = Tanh (b) }
    >
}
<domain: "l", opset_import: ["": 18, "l": 1]> outer (p) => (q) { [call] r = l.inner (p) [relu] q = Relu (r) }
<domain: "l", opset_import: ["": 18]> inner (p) => (q) { [sin] q = Sin (p) }
"""


def nested():
    return ir.load(onnx.parser.parse_model(NESTED))


def policies(model, rules, default="float32"):
    resolved = resolve_nodes(model, PolicyMap(default, rules))
    return {node.name: (one.policy.name, one.holder) for node, one in resolved.items()}


def test_bodies_of_control_flow_take_the_rule_of_the_node_around_them():
    found = policies(nested(), {"choice": "float16", "tanh": "bfloat16"})
    assert found["choice"] == ("float16", "")
    assert found["negate"] == ("float16", "choice (If)")
    assert found["tanh"] == ("bfloat16", ""), "a rule for the node itself wins"
    assert found["relu"] == ("float32", "")


def test_a_function_takes_the_rule_that_all_its_calls_agree_on():
    found = policies(nested(), {"op:outer": "float16"})
    assert found["relu"] == ("float16", "first (outer)")
    assert found["call"] == ("float16", "first (outer)")
    assert found["sin"] == ("float32", ""), "inner is called elsewhere too"
    assert policies(nested(), {"first": "float16"})["relu"] == ("float32", "")
    everywhere = policies(nested(), {"op:outer": "float16", "choice": "float16"})
    assert everywhere["sin"][0] == "float16"


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_calls_under_different_policies_get_bodies_of_their_own(target):
    rules = {"first": "float16", "choice": "float16"}
    converted = mpgraph.convert(
        nested(), PolicyMap("float32", rules), target=target, allow_slow=True, verify="structure"
    ).model
    flow = infer_types(converted)
    seen = {
        (node.op_type, flow.dtype(node.outputs[0]))
        for node in ir.nodes(converted)
        if node.op_type in ("Sin", "Relu")
    }
    wanted = {("Relu", "FLOAT16"), ("Relu", "FLOAT"), ("Sin", "FLOAT16"), ("Sin", "FLOAT")}
    assert wanted <= {(op, dtype.name) for op, dtype in seen}
    ir.check_model(converted)
    again = mpgraph.convert(
        converted,
        PolicyMap("float32", rules),
        target=target,
        allow_slow=True,
        verify="structure",
    ).model
    assert ir.print_model(again) == ir.print_model(converted)


def test_functions_stand_behind_all_that_call_them():
    model = nested()
    assert [function.name for function in ir.callers_first(model)] == ["outer", "inner"]
    calls = ir.function_calls(model)
    assert {key[1]: len(found) for key, found in calls.items()} == {"outer": 2, "inner": 2}
    assert ir.function_calls(ir.load(models.build("mlp"))) == {}
