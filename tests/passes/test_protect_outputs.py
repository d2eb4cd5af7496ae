"""What the outputs do not bear to be rounded stays float, weights included."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.quant import QuantizationPlan
from mpgraph.quant.form_errors import HarmfulParts
from mpgraph.runtime import input_specs, load_data
from tests.pipelines import given, run
from tests.quant.placement.planning import forms
from tests.runtime.builders import build

DECIDE = "calibrate,plan-quantization,protect-outputs"


def two_products(first_row):
    """Two heavy products of one input; in the weight of the second, a row that meets zeros."""
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=(128, 128)).astype(np.float32) for _ in range(2)]
    weights[1][0] = first_row
    model = build(
        """g (float[256,128] x) => (float[256,128] y, float[256,128] z) {
            y = MatMul (x, w) z = MatMul (x, v) }""",
        opset=21,
        w=weights[0],
        v=weights[1],
    )
    x = rng.normal(size=(256, 128)).astype(np.float32)
    x[:, 0] = 0
    return model, [{"x": x}]


@pytest.mark.parametrize(("first_row", "kept"), [(1.0, []), (1e3, ["MatMul z"])])
def test_a_weight_that_does_not_bear_to_be_rounded_stays_float(first_row, kept):
    model, feeds = two_products(first_row)
    facts = given("int8_from_float32", "cpu")
    facts.put(load_data(feeds, input_specs(model)))
    run(model, DECIDE, facts)
    plan = facts.get(QuantizationPlan)
    assert sorted(name for name, form in forms(plan).items() if form == "float") == kept
    harmful = facts.find(HarmfulParts)
    errors = {} if harmful is None else harmful.errors
    assert bool(errors) == bool(kept)
    assert all(isinstance(part, ir.Node) and error > 0.1 for part, error in errors.items())


def test_float8_is_not_held_to_what_only_integers_can_give():
    model, feeds = two_products(1.0)
    facts = given("float8_from_float32", "tensorrt")
    facts.put(load_data(feeds, input_specs(model)))
    run(model, DECIDE, facts)
    assert set(forms(facts.get(QuantizationPlan)).values()) == {"static"}
    assert facts.find(HarmfulParts) is None
