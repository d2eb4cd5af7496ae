"""Range scaling: exponents, exactness, and how a power of two runs through operators."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.analysis import build_cells, infer_types
from mpgraph.analysis.scaling import decide_scaling
from mpgraph.analysis.scaling.exactness import (
    constant_change,
    fits,
    keeps_digits,
    needed_exponent,
)
from mpgraph.analysis.scaling.relations import relation
from mpgraph.runtime import create_session
from tests.runtime.builders import build

LARGEST = 65504.0


@dataclass(frozen=True)
class Seen:
    """Magnitudes as a measurement would give them."""

    amax: float
    amin_nonzero: float = 1.0
    mean_abs: float = 1.0


@pytest.mark.parametrize(
    ("amax", "exponent"),
    [(0.0, 0), (1.0, 0), (32752.0, 0), (32753.0, 1), (32769.0, 2), (2.0**20, 6), (1e6, 6)],
)
def test_the_exponent_is_the_least_that_brings_a_value_within_the_target(amax, exponent):
    assert needed_exponent(amax) == exponent
    assert fits(amax, exponent)


@pytest.mark.parametrize(
    ("seen", "exponent", "keeps"),
    [
        (Seen(1e6, 2.0**-8), 6, True),
        (Seen(1e6, 2.0**-9, mean_abs=1.0), 6, True),
        (Seen(1e6, 2.0**-9, mean_abs=2.0**-6), 6, False),
        (Seen(1e30, 1.0, mean_abs=1e29), 87, False),
        (Seen(1e30, 1e28, mean_abs=1e29), 87, True),
        (Seen(1.0, math.inf, mean_abs=0.0), 60, True),
    ],
)
def test_small_elements_must_not_fall_into_the_subnormals(seen, exponent, keeps):
    assert keeps_digits(seen, exponent) is keeps


@pytest.mark.parametrize(
    ("array", "exponent", "problem"),
    [
        ([1.0, 0.5, 2.0**-9], 5, ""),
        ([1.0, 1e-3], 12, "it would lose"),
        ([1e-3, 2e-3], 12, "it would lose"),
        ([1.0, 3.0], -15, "it would pass 65504"),
        ([1e9, 2e9], 20, ""),
        ([0.0, 0.0], 5, ""),
        ([], 5, ""),
    ],
)
def test_constants_are_scaled_where_float16_still_has_their_digits(array, exponent, problem):
    assert constant_change(ir.tensor(np.array(array, np.float32)), exponent).startswith(problem)
    assert bool(constant_change(ir.tensor(np.array(array, np.float32)), exponent)) == bool(problem)


def test_a_few_weights_below_the_normal_range_are_negligible():
    weights = np.random.default_rng(0).standard_normal(10000).astype(np.float32) * 0.02
    scaled = np.abs(weights * 2.0**-5)
    assert (scaled < 2.0**-14).mean() > 0.05
    assert constant_change(ir.tensor(weights), 5) == ""
    assert "it would lose" in constant_change(ir.tensor(weights), 9)


def test_constants_are_looked_at_piece_by_piece():
    weights = np.ones(200_001, np.float32)
    weights[-1] = 1e-9
    assert constant_change(ir.tensor(weights), 2) == ""
    weights[-1] = 1e9
    assert "it would pass" in constant_change(ir.tensor(weights), 2)


CONSTANTS = {
    "c": np.linspace(0.5, 2, 4, dtype=np.float32),
    "w": np.linspace(-1, 2, 16, dtype=np.float32).reshape(4, 4),
    "k": np.linspace(-1, 2, 27, dtype=np.float32).reshape(3, 3, 3, 1),
    "table": np.linspace(-1, 2, 24, dtype=np.float32).reshape(2, 3, 4, 1),
    "three": np.linspace(0.5, 2, 3, dtype=np.float32),
    "flat": np.array([6, 16]),
    "axis": np.array([3]),
    "one": np.array(1),
    "two": np.array([2]),
    "shape": np.array([2, 3, 4, 4]),
    "pads": np.array([0, 0, 1, 1, 0, 0, 0, 0]),
    "zeros": np.array([0, 0, 0, 0]),
    "ones": np.array([1, 1, 1, 1]),
    "ends": np.array([2, 2, 3, 4]),
    "index": np.array([1, 0]),
    "order": np.ones((2, 3, 4, 4), np.int64),
    "point": np.array([[1, 0]]),
    "row": np.ones((1, 4, 4), np.float32),
    "half": np.array(0.5, np.float32),
    "minus": np.array(-0.5, np.float32),
    "axes": np.array([0, 1, 2, 3]),
    "lengths": np.array([2, 1]),
    "yes": np.array([True, False, True, False]),
    "none": np.array([], np.float32),
    "sizes": np.array([1, 1, 2, 2], np.float32),
}
OPERATORS = [
    "Abs (x)",
    "Add (x, z)",
    "Add (x, c)",
    "AveragePool <kernel_shape = [2, 2]> (x)",
    "BatchNormalization (x, three, three, three, three)",
    "Clip (x, minus, half)",
    "Clip (x)",
    "Concat <axis = 1> (x, z)",
    "Conv (x, k)",
    "Conv (x, k, three)",
    "ConvTranspose (x, k)",
    "CumSum (x, one)",
    "DepthToSpace <blocksize = 1> (x)",
    "Div (x, c)",
    "Div (x, z)",
    "Div (c, z)",
    "Dropout (x)",
    "Expand (x, shape)",
    "Flatten (x)",
    "Gather (x, index)",
    "Gather (table, index)",
    "GatherElements (x, order)",
    "GatherND (x, point)",
    "GlobalAveragePool (x)",
    "GlobalMaxPool (x)",
    "Identity (x)",
    "LayerNormalization (x, c)",
    "LayerNormalization <epsilon = 0.25> (x, c)",
    "LeakyRelu (x)",
    "MatMul (x, w)",
    "MatMul (w, x)",
    "MatMul (x, z)",
    "Max (x, z)",
    "MaxPool <kernel_shape = [2, 2]> (x)",
    "Mean (x, z)",
    "Min (x, z, c)",
    "Mul (x, c)",
    "Mul (x, z)",
    "Mul (x, x)",
    "Neg (x)",
    "PRelu (x, c)",
    "Pad (x, pads)",
    "Pad (x, pads, half)",
    'Pad <mode = "reflect"> (x, pads)',
    "ReduceL1 (x, axis)",
    "ReduceL2 (x, axis)",
    "ReduceMax (x, axis)",
    "ReduceMean (x, axis)",
    "ReduceMin (x, axis)",
    "ReduceSum (x, axis)",
    "Relu (x)",
    "Reshape (x, flat)",
    'Resize <mode = "linear"> (x, none, sizes)',
    'Resize <mode = "cubic"> (x, none, sizes)',
    "ReverseSequence <batch_axis = 0, time_axis = 1> (x, lengths)",
    "ScatterElements (x, order, z)",
    'ScatterElements <reduction = "add"> (x, order, z)',
    "ScatterND (x, point, row)",
    "Slice (x, zeros, ends, axes)",
    "SpaceToDepth <blocksize = 2> (x)",
    "Split <num_outputs = 1> (x)",
    "Squeeze (x)",
    "Sub (x, z)",
    "Sum (x, z, c)",
    "Tile (x, ones)",
    "TopK (x, two)",
    "Transpose (x)",
    "Trilu (x)",
    "Unsqueeze (x, axis)",
    "Where (yes, x, z)",
    "Where (yes, x, c)",
    "com.microsoft.FusedMatMul <alpha = 2.0> (x, w)",
    "com.microsoft.FusedMatMul <transB = 1> (x, z)",
]
RANKS = {"Flatten": 2, "Reshape": 2, "GatherND": 3, "Unsqueeze": 5}


def operator_model(text):
    """A model of one operator whose result may have any shape."""
    shape = ",".join("abcde"[: RANKS.get(text.split(" ")[0], 4)])
    head = f"g (float[2,3,4,4] x, float[2,3,4,4] z) => (float[{shape}] y)"
    return build(f"{head} {{ y = {text} }}", **CONSTANTS)


def results(model, feeds):
    session = create_session(model, optimize=False)
    names = [one.name for one in session.get_inputs()]
    return session.run(None, {name: feeds[name] for name in names})[0]


def exponents_of(found, exponent):
    """The exponents of operands, and of the result, when what can be scaled is."""
    if found.absorbs:
        return {0: exponent}, 0
    result = exponent * max(1, len(found.factors))
    taken = dict.fromkeys(found.factors, exponent)
    if found.constant_factor is not None:
        taken[found.constant_factor] = -2 if found.divides else 2
        result += 2
    taken |= dict.fromkeys(found.with_result, result)
    return taken | dict.fromkeys(found.with_factor, exponent), result


def scaled_results(model, feeds, exponent):
    """What the operator gives for scaled operands, times what its relation promises."""
    (node,) = model.graph
    constants = set(model.graph.initializers.values())
    found = relation(node, constants.__contains__)
    assert found is not None
    taken, result = exponents_of(found, exponent)
    given = dict(feeds)
    for index, value in enumerate(node.inputs):
        if value is None or not taken.get(index):
            continue
        array = value.const_value.numpy() if value in constants else feeds[value.name]
        copy = ir.Value(name=f"operand{index}", type=value.type, shape=value.shape)
        model.graph.inputs.append(copy)
        node.replace_input_with(index, copy)
        given[copy.name] = np.ldexp(array, -taken[index])
    if found.epsilon:
        before = node.attributes.get("epsilon")
        epsilon = 1e-5 if before is None else before.as_float()
        node.attributes["epsilon"] = ir.AttrFloat32("epsilon", math.ldexp(epsilon, -2 * exponent))
    return np.ldexp(results(model, given), result)


@pytest.mark.parametrize("exponent", [3, -4])
@pytest.mark.parametrize("text", OPERATORS)
def test_a_power_of_two_runs_through_an_operator_as_its_relation_says(text, exponent):
    random = np.random.default_rng(0)
    data = {name: random.standard_normal((2, 3, 4, 4)).astype(np.float32) for name in ("x", "z")}
    plain = results(operator_model(text), data)
    scaled = scaled_results(operator_model(text), data, exponent)
    np.testing.assert_allclose(scaled, plain, rtol=1e-5, atol=1e-6)
