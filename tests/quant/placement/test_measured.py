"""Forms that measured errors choose."""

from __future__ import annotations

import pytest

from mpgraph.policy import PolicyMap
from mpgraph.quant.form_errors import FINE, FormErrors
from tests.quant.placement.planning import forms, normal, planned
from tests.runtime.builders import build

FEEDS = [{"x": normal(64, 64)}]


def product():
    return build(
        "g (float[64,64] x) => (float[64,64] y) { h = MatMul (x, w) y = MatMul (h, v) }",
        w=normal(64, 64),
        v=normal(64, 64),
    )


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        (FormErrors(0.01, 0.01, 0.001), "dynamic_rows"),
        (FormErrors(0.01, 0.004, 0.003), "dynamic"),
        (FormErrors(0.01, 0.006, 0.003), "static"),
        (FormErrors(FINE, FINE / 10, FINE / 100), "static"),
    ],
)
def test_ranges_are_taken_when_the_model_runs_where_that_is_much_closer(errors, expected):
    model = product()
    first, _ = model.graph
    plan = planned(model, FEEDS, errors={first: errors})
    assert forms(plan) == {"MatMul h": expected, "MatMul y": "static"}
    if expected != "static":
        assert "error" in next(one.reason for one in plan.nodes if one.form == expected)


def test_dynamic_modes_take_ranges_per_row_too():
    model = product()
    first, _ = model.graph
    errors = {first: FormErrors(1, 0.01, 0.001)}
    plan = planned(model, policy="int8_dynamic_from_float32", errors=errors)
    assert forms(plan) == {"MatMul h": "dynamic_rows", "MatMul y": "dynamic"}


def test_a_provider_without_such_kernels_keeps_its_form():
    model = product()
    first, _ = model.graph
    plan = planned(model, FEEDS, target="tensorrt", errors={first: FormErrors(1, 0.01, 0.001)})
    assert forms(plan) == {"MatMul h": "static", "MatMul y": "static"}


def test_readers_of_a_harmful_value_stay_float():
    model = product()
    first, _ = model.graph
    plan = planned(model, FEEDS, harmful={first.outputs[0]: 0.25})
    assert forms(plan) == {"MatMul h": "static", "MatMul y": "float"}
    assert [one.value for one in plan.activations] == ["x"]
    (left,) = plan.left
    assert left == "rounding h alone costs the outputs 0.25 of their energy"


def test_an_explicit_rule_holds_all_the_same():
    model = product()
    first, _ = model.graph
    rules = PolicyMap("int8_from_float32", {"op:MatMul": "int8_from_float32"})
    plan = planned(model, FEEDS, policy=rules, harmful={first.outputs[0]: 0.25})
    assert forms(plan) == {"MatMul h": "static", "MatMul y": "static"}


def test_a_conv_whose_result_is_harmful_stays_float():
    text = """g (float[1,4,4,4] x) => (float[1,4,4,4] y) {
        c = Conv <kernel_shape = [1, 1]> (x, w)
        r = Relu (c)
        y = Conv <kernel_shape = [1, 1]> (r, w)
    }"""
    model = build(text, w=normal(4, 4, 1, 1))
    relu = list(model.graph)[1]
    plan = planned(model, [{"x": normal(1, 4, 4, 4)}], harmful={relu.outputs[0]: 0.5})
    assert set(forms(plan).values()) == {"float"}
    assert not plan.activations


def test_a_harmful_sum_is_not_handed_on_as_numbers():
    text = """g (float[1,4,4,4] x) => (float[1,4,4,4] y) {
        c = Conv <kernel_shape = [1, 1]> (x, w)
        d = Conv <kernel_shape = [1, 1]> (c, w)
        s = Add (c, d)
        y = Conv <kernel_shape = [1, 1]> (s, w)
    }"""
    model = build(text, w=normal(4, 4, 1, 1))
    feeds = [{"x": normal(1, 4, 4, 4)}]
    total = list(model.graph)[2].outputs[0]
    assert "s" in {one.value for one in planned(model, feeds).activations}
    plan = planned(model, feeds, harmful={total: 0.5})
    assert forms(plan)["Conv y"] == "float"
    assert "s" not in {one.value for one in plan.activations}
