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
        ([1.0, 1e-3], 12, ""),
        ([[1.0, 1.0], [1e-3, 1e-3]], 12, "one of its slices would lose"),
        ([[1.0, 1e-3], [1.0, 1e-3]], 12, "one of its slices would lose"),
        ([[1.0, 1e-9], [1.0, 1e-9]], 12, ""),
        ([1e-6, 3e-6], -12, ""),
        ([np.inf, 1.0], 2, ""),
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
    names = "y, i" if text.startswith("TopK") else "y"
    return build(f"{head} {{ {names} = {text} }}", **CONSTANTS)


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
        given[copy.name] = np.asarray(np.ldexp(array, -taken[index]))
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


X = "g (float[2,4] x) => (float[2,4] y)"
WEIGHTS = {
    "w": np.ones((4, 4), np.float32),
    "v": np.full((4, 4), 0.5, np.float32),
    "b": np.ones(4, np.float32),
    "tiny": np.full((4, 4), 3e-4, np.float32),
}
BIG = Seen(1e6, 1e3, 1e5)
"""Needs 2^-6, and has nothing that float16 would lose then."""


def decided(text, measured, is_scalable=lambda node: True):
    """The exponents of a model of such nodes, by the names of values."""
    model = build(f"{X} {{ {text} }}", **WEIGHTS)
    graph = build_cells(model, infer_types(model))
    everything = {value.name: Seen(1.0) for value in graph.results} | measured
    return decide_scaling(graph, everything, is_scalable)


def values(scaling):
    return {value.name: exponent for value, exponent in scaling.values.items()}


def operands(scaling):
    return {(node.op_type, index): k for (node, index), k in scaling.operands.items()}


def constants(scaling):
    return {
        (node.op_type, node.inputs[index].name): k for (node, index), k in scaling.constants.items()
    }


def refused(scaling):
    return {value.name: reason for value, reason in scaling.refused.items()}


def test_a_constant_takes_the_factor_and_the_next_one_gives_it_back():
    found = decided("a = MatMul (x, w) r = Relu (a) y = MatMul (r, v)", {"a": BIG, "r": BIG})
    assert values(found) == {"a": 6, "r": 6}
    assert constants(found) == {("MatMul", "w"): 6, ("MatMul", "v"): -6}
    assert operands(found) == {("Relu", 0): 6, ("MatMul", 0): 6}
    assert not found.refused


def test_a_bias_is_scaled_with_the_result():
    found = decided("y = Gemm (x, w, b)", {"y": BIG})
    assert constants(found) == {("Gemm", "w"): 6, ("Gemm", "b"): 6}


def test_a_bias_may_vanish_beside_a_large_result_but_not_overflow():
    text = "c = Constant <value_float = {}> () y = Gemm (x, w, c)"
    found = decided(text.format("1e-6"), {"y": BIG})
    assert constants(found) == {("Gemm", "w"): 6, ("Gemm", "c"): 6}
    found = decided(text.format("5e6"), {"y": BIG})
    assert refused(found)["y"] == "c cannot be taken times 2^-6: it would pass 65504"


def test_what_hands_no_factor_on_takes_the_unscaled_value():
    found = decided("a = MatMul (x, w) y = Softmax (a)", {"a": BIG})
    assert values(found) == {"a": 6}
    assert operands(found) == {}


def test_a_normalisation_takes_any_scale():
    found = decided("a = MatMul (x, w) y = LayerNormalization (a, b)", {"a": BIG})
    assert operands(found) == {("LayerNormalization", 0): 6}
    assert [*found.epsilons.values()] == [6]


def test_a_weight_that_would_vanish_leaves_the_factor_to_the_operand():
    big, wide = Seen(1e6, 1e3, 1e5), Seen(1e4, 1.0, 1e3)
    found = decided("y = MatMul (x, tiny)", {"x": wide, "y": big})
    assert constants(found) == {}
    assert operands(found) == {("MatMul", 0): 6}
    assert values(found) == {"y": 6}


def test_where_neither_can_the_value_stays_unscaled_with_the_reason():
    small = Seen(1.0, 1e-6, 1e-5)
    found = decided("y = MatMul (x, tiny)", {"x": small, "y": BIG})
    assert values(found) == {}
    assert "tiny cannot be taken times 2^-6: it would lose" in refused(found)["y"]
    assert refused(decided("y = Exp (x)", {"y": BIG})) == {"y": "Exp does not hand on a factor"}


def test_a_value_whose_small_elements_count_is_not_scaled():
    found = decided("y = MatMul (x, w)", {"y": Seen(1e9, 1e-3, 1e3)})
    assert values(found) == {}
    assert "y times 2^-16 would fall below the normal range" in refused(found)["y"]


def test_operands_of_a_sum_meet_at_one_exponent():
    found = decided("a = MatMul (x, w) y = Add (a, x)", {"a": Seen(1e4, 1.0, 1e3), "y": BIG})
    assert values(found) == {"a": 6, "y": 6}
    assert operands(found) == {("Add", 0): 6, ("Add", 1): 6}
    assert constants(found) == {("MatMul", "w"): 6}


def test_a_later_summand_comes_at_the_exponent_of_the_earlier_sum():
    text = "a = MatMul (x, w) s = Add (a, a) n = LayerNormalization (s, b) "
    text += "c = MatMul (n, v) r = Relu (c) y = Add (s, r)"
    found = decided(text, {"a": BIG, "s": BIG})
    assert values(found) == dict.fromkeys(("a", "s", "c", "r", "y"), 6)
    assert ("MatMul", "v") in constants(found)


def test_a_product_of_two_values_adds_their_exponents():
    text = "a = MatMul (x, w) c = MatMul (x, v) y = Mul (a, c)"
    found = decided(text, {"a": Seen(1e5, 1e3, 1e4), "y": Seen(1e9, 1e7, 1e8)})
    assert values(found) == {"a": 16, "y": 16}
    found = decided(text, {"a": BIG, "c": BIG, "y": Seen(1e12, 1e10, 1e11)})
    assert values(found)["a"] + values(found)["c"] == values(found)["y"]
    assert values(found)["y"] >= 26


def test_clip_takes_its_bounds_scaled_and_only_as_operands():
    text = "a = MatMul (x, w) y = Clip (a, bottom, top)"
    bounds = " bottom = Constant <value_float = -50000.0> () top = Constant <value_float = 5e5> ()"
    found = decided(f"{bounds} {text}", {"a": BIG, "y": Seen(5e5, 1e3, 1e5)})
    assert constants(found) == {("MatMul", "w"): 6, ("Clip", "bottom"): 6, ("Clip", "top"): 6}


def test_values_that_were_not_measured_stay_unscaled():
    model = build(f"{X} {{ a = MatMul (x, w) y = Relu (a) }}", **WEIGHTS)
    graph = build_cells(model, infer_types(model))
    found = decide_scaling(graph, {"a": BIG}, lambda node: True)
    assert values(found) == {"a": 6}
    assert operands(found) == {}


def test_nodes_that_cannot_be_low_take_and_give_unscaled_values():
    found = decided(
        "a = MatMul (x, w) y = Relu (a)",
        {"a": BIG, "y": BIG},
        lambda node: node.op_type == "MatMul",
    )
    assert values(found) == {"a": 6}
    assert operands(found) == {}
    assert refused(found) == {}


def test_only_the_parts_that_are_wanted_are_kept():
    found = decided(
        "a = MatMul (x, w) r = Relu (a) n = Softmax (r) c = Mul (n, v) d = Neg (c) y = Tanh (d)",
        {"a": BIG, "r": BIG, "c": BIG, "d": BIG},
    )
    kept = found.kept_where(lambda node: node.op_type == "MatMul", "not wanted")
    assert values(kept) == {"a": 6, "r": 6}
    assert refused(kept) == {"c": "not wanted", "d": "not wanted"}
    assert constants(kept) == {("MatMul", "w"): 6}
