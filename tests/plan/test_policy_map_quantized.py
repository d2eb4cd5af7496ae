"""The policy map of a plan with quantization gives the quantization again."""

from __future__ import annotations

import pytest

import models
import mpgraph
from mpgraph.plan import policy_map_of_plan
from mpgraph.policy import PolicyMap, parse_policy_text, policy_text
from mpgraph.report.plan_document import plan_text, read_plan_text


def forms(result):
    return {(one.name, one.op_type): one.form for one in result.quantization.nodes}


def quantized(result):
    return {key: form for key, form in forms(result).items() if form != "float"}


def again(name, result, **options):
    """The conversion under the map of a plan, by way of its document and a policy file."""
    plan, quantization = read_plan_text(plan_text(result.plan, result.quantization))
    assert plan == result.plan
    assert quantization == result.quantization
    left = [
        one.key
        for one in plan.assignments
        if quantization.left_float(one.key, one.name, one.op_type)
    ]
    policies = parse_policy_text(policy_text(policy_map_of_plan(plan, left)))
    return mpgraph.convert(models.build(name), policies, verify="structure", **options)


@pytest.mark.parametrize(
    "policy",
    [
        "int8_from_float32",
        "uint4/32_from_float32",
        "int8_from_mixed_float16",
        PolicyMap("int8_from_float32", {"name:*conv1*": "float32"}),
        PolicyMap("float32", {"op:Conv": "int8_from_float32", "op:Relu": "int8_from_float32"}),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["residual_cnn"])
def test_the_same_nodes_are_quantized_in_the_same_form(name, policy):
    options = {"data": models.feeds(name)}
    first = mpgraph.convert(models.build(name), policy, verify="structure", **options)
    assert quantized(again(name, first, **options)) == quantized(first)


def test_what_stayed_float_is_not_forced():
    options = {"data": models.feeds("decoder"), "target": "cuda"}
    first = mpgraph.convert(
        models.build("decoder"), "int8_weight_from_mixed_float16", verify="structure", **options
    )
    assert "float" in forms(first).values()
    second = again("decoder", first, **options)
    assert quantized(second) == quantized(first)
