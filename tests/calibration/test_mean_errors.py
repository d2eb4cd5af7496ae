"""Mean errors of results that a model computes twice, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph.calibration import TwoForms, mean_errors
from mpgraph.runtime import input_specs, load_data
from tests.runtime.builders import build

TEXT = """g (float[n,3,2] x, bool quantized) => (float[n,3,2] y) {
    exact = Mul (x, two)
    near = Add (exact, steps)
    y = Where (quantized, near, exact)
}"""
STEPS = np.arange(6, dtype=np.float32).reshape(3, 2)
SWITCH = {"quantized": np.array(False)}


def measured(feeds, axis, opset=18, steps=STEPS):
    model = build(TEXT, opset, two=np.array(2, np.float32), steps=steps)
    specs = [one for one in input_specs(model) if one.name == "x"]
    values = {value.name: value for node in model.graph for value in node.outputs}
    forms = [TwoForms("y", values["exact"], values["near"], 3, axis)]
    return mean_errors(model, forms, load_data(feeds, specs), 2, SWITCH)


@pytest.mark.parametrize("opset", [13, 18])
@pytest.mark.parametrize(("axis", "others"), [(1, (0, 2)), (-1, (0, 1))])
def test_one_mean_per_channel(axis, others, opset):
    feeds = [{"x": np.ones((count, 3, 2), np.float32)} for count in (1, 4)]
    found = measured(feeds, axis, opset)["y"]
    np.testing.assert_allclose(found, STEPS[np.newaxis].mean(axis=others))


def test_no_more_samples_than_asked_for():
    feeds = [{"x": np.full((1, 3, 2), one, np.float32)} for one in (1, 2, np.nan)]
    np.testing.assert_allclose(measured(feeds, 1)["y"], STEPS.mean(axis=1))


def test_what_is_not_finite_is_left_out():
    assert measured([{"x": np.full((1, 3, 2), np.inf, np.float32)}], 1) == {}
