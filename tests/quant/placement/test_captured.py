"""Activations that a body reads from the graph around it."""

from __future__ import annotations

import numpy as np

import mpgraph
from mpgraph.runtime import create_session, run
from tests.quant.placement.planning import forms, normal, planned
from tests.runtime.builders import build

TEXT = """g (float[4,32] x, bool yes) => (float[4,32] y) {
    y = If (yes) <
        then_branch = g1 () => (float[4,32] t) { t = MatMul (x, w) },
        else_branch = g2 () => (float[4,32] e) { r = Relu (x) e = MatMul (r, w) }
    >
}"""


def branches():
    return build(TEXT, w=normal(32, 32))


def feeds():
    return [{"x": normal(4, 32, seed=yes), "yes": np.array(bool(yes))} for yes in (0, 1)]


def test_their_range_is_taken_in_the_body():
    plan = planned(branches(), feeds())
    assert forms(plan) == {"MatMul t": "dynamic", "MatMul e": "static"}
    (warning,) = plan.warnings
    assert warning.startswith("a body reads activations of the graph around it")


def test_the_model_computes_on_integers_in_both_branches():
    model = branches()
    result = mpgraph.convert(model, "int8_from_float32", data=feeds())
    before, after = create_session(model), create_session(result.model)
    for feed in feeds():
        (exact,), (found,) = (run(session, feed).values() for session in (before, after))
        assert 0 < np.abs(found - exact).max() < 0.03 * np.abs(exact).max()


BEHIND_RELU = """g (float[1,32,40,40] x, bool yes) => (float[1,32,40,40] y) {
    a = Conv <pads = [1, 1, 1, 1]> (x, w)
    b = Conv <pads = [1, 1, 1, 1]> (a, w)
    r = Relu (b)
    n = Neg (r)
    y = If (yes) <
        then_branch = g1 () => (float[1,32,40,40] t) { t = Exp (r) },
        else_branch = g2 () => (float[1,32,40,40] e) { e = Identity (n) }
    >
}"""


def test_a_convolution_whose_relu_a_body_reads_stays_float():
    model = build(BEHIND_RELU, w=normal(32, 32, 3, 3))
    images = [{"x": normal(1, 32, 40, 40), "yes": np.array(True)}]
    plan = planned(model, images)
    assert forms(plan) == {"Conv a": "static", "Conv b": "float"}
    assert any("body of control flow" in one.reason for one in plan.nodes)
