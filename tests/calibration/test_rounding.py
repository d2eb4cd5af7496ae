"""Trials with some activations rounded, against models that are quantized."""

from __future__ import annotations

import numpy as np
import pytest

import models
from mpgraph import ir
from mpgraph.calibration import ExactOutputs, RoundingTrial
from mpgraph.quant import PlannedActivation, PlannedWeight
from mpgraph.runtime import create_session, input_specs, load_data, run
from tests.passes.test_contract import node_set
from tests.pipelines import state
from tests.runtime.builders import build

TEXT = """g (float[2,4] x) => (float[2,4] y, float[2,4] z, int64[2] i) {
    h = Mul (x, two)
    y = Add (h, x)
    z = Tanh (h)
    i = ArgMax <axis = 1, keepdims = 0> (h)
}"""
X = np.array([[0.5, -1.5, 2.25, 3.125], [0.25, 1.75, -0.375, 1.0]], np.float32)
H = PlannedActivation("main", "h", "uint8", 0.1, 100, ("main#1:0",))
INPUT = PlannedActivation("main", "x", "int8", 0.25, 0, ("main#0:0", "main#1:1"))


def model():
    return build(TEXT, two=np.array(2, np.float32))


def trial(*parts, given=None, feeds=({"x": X},)):
    one = model() if given is None else given
    exact = ExactOutputs(one, load_data(list(feeds), input_specs(one)), 2)
    return RoundingTrial(one, parts, [], exact)


def left(array, scale):
    return np.rint(array / np.float32(scale)) * np.float32(scale)


def relative(exact, found):
    return (
        np.square(found - exact, dtype=np.float64).sum() / np.square(exact, dtype=np.float64).sum()
    )


def test_one_part_is_rounded_for_its_readers_alone():
    tried = trial([INPUT], [H])
    assert tried.activations_error([]) == 0
    exact = 3 * X
    rounded = relative(exact, left(2 * X, 0.1) + X)
    assert tried.activations_error([1]) == pytest.approx(rounded, rel=1e-4)
    assert tried.activations_error([0, 1]) > 0


def test_parts_together_are_rounded_after_each_other():
    coarse = left(X, 0.25)
    expected = max(
        relative(3 * X, left(2 * coarse, 0.1) + coarse),
        relative(np.tanh(2 * X), np.tanh(2 * coarse)),
    )
    assert trial([INPUT, H]).activations_error([0]) == pytest.approx(expected, rel=1e-4)
    assert trial([INPUT], [H]).activations_error([0, 1]) == pytest.approx(expected, rel=1e-4)


def test_outputs_are_rounded_where_the_plan_reads_them_so():
    y = PlannedActivation("main", "y", "uint8", 0.5, 50, ("main:0",))
    assert trial([y]).activations_error([0]) == pytest.approx(
        relative(3 * X, left(3 * X, 0.5)), rel=1e-4
    )


def test_the_model_is_not_changed():
    one = model()
    before, nodes = state(one), node_set(one)
    trial([INPUT], [H], given=one).activations_error([0])
    assert state(one) == before and node_set(one) == nodes


def test_an_output_that_is_not_finite_any_more_is_infinitely_wrong():
    one = build("g (float[2,4] x) => (float[2,4] y) { y = Reciprocal (x) }")
    zeroed = PlannedActivation("main", "x", "int8", 10.0, 0, ("main#0:0",))
    assert trial([zeroed], given=one).activations_error([0]) == float("inf")


def test_activations_that_are_not_float32_are_left_out():
    one = build("g (float16[2,4] x) => (float16[2,4] y) { y = Neg (x) }", 21)
    planned = PlannedActivation("main", "x", "int8", 1.0, 0, ("main#0:0",))
    assert (
        trial([planned], given=one, feeds=[{"x": X.astype(np.float16)}]).activations_error([0]) == 0
    )


@pytest.mark.parametrize("name", ["if_captures", "functions", "scan_state", "mlp"])
def test_values_of_all_graphs(name):
    """All floats of a model rounded with a fine step hardly change it; with a coarse one they do."""
    one = ir.load(models.build(name))
    planned = [
        (scope.path, value.name, f"{scope.path}#{index}:{at}")
        for scope in ir.graphs(one)
        for index, node in enumerate(scope.graph)
        for at, value in enumerate(node.inputs)
        if value is not None and value.name and value.graph is scope.graph
        if value.producer() is not None and not value.is_initializer()
    ]

    def parts(scale):
        return [
            PlannedActivation(path, value, "uint8", scale, 128, (reader,))
            for path, value, reader in planned
        ]

    feeds = models.feeds(name)[:1]
    fine = trial(parts(0.03), given=one, feeds=feeds).activations_error([0])
    coarse = trial(parts(2.0), given=one, feeds=feeds).activations_error([0])
    assert fine < 1e-2
    assert coarse > 20 * fine


def test_exact_outputs_measure_any_variant():
    one, feed = model(), {"x": X}
    exact = ExactOutputs(one, load_data([feed], input_specs(one)), 1)
    assert exact.error(create_session(one)) == 0
    other = build(TEXT, two=np.array(2.5, np.float32))
    found = run(create_session(other), feed)
    expected = max(relative(3 * X, found["y"]), relative(np.tanh(2 * X), found["z"]))
    assert exact.error(create_session(other)) == pytest.approx(expected, rel=1e-4)


def test_weights_are_rounded_apart_from_what_they_are_multiplied_by():
    weight = np.array([[1.0, 0.26], [-0.3, 2.0], [0.7, -0.1], [0.4, 0.9]], np.float32)
    one = build("g (float[2,4] x) => (float[2,2] y) { y = MatMul (x, w) }", w=weight)
    exact = ExactOutputs(one, load_data([{"x": X}], input_specs(one)), 1)
    planned = PlannedWeight("main#0:1", "w", "int8", 4, True, True, 1, None)
    scale = np.abs(weight).max(axis=0) / 7
    expected = relative(X @ weight, X @ (np.rint(weight / scale) * scale))
    coarse = PlannedActivation("main", "x", "int8", 0.5, 0, ("main#0:0",))
    tried = RoundingTrial(one, [[coarse]], [[planned]], exact)
    assert tried.weights_error([]) < 1e-9
    assert tried.weights_error([0]) == pytest.approx(expected, rel=1e-3)
    other = relative(X @ weight, left(X, 0.5) @ weight)
    assert tried.activations_error([0]) == pytest.approx(other, rel=1e-3)
