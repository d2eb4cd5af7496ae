from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.runtime.data import DataSet, input_specs
from mpgraph.runtime.exposure import float_tensors, value_batches, with_outputs
from mpgraph.runtime.measure import measure_ranges
from mpgraph.runtime.statistics import ValueStatistics
from tests.runtime.builders import build


def reference(array: np.ndarray[Any, Any]) -> ValueStatistics:
    """The same numbers the slow way, with float16 itself deciding what is flushed."""
    values = array.astype(np.float64).ravel()
    finite = values[np.isfinite(values)]
    nonzero = finite[finite != 0]
    with np.errstate(all="ignore"):
        half = nonzero.astype(np.float32).astype(np.float16)
    return ValueStatistics(
        values.size,
        values.size - finite.size,
        finite.min(initial=np.inf),
        finite.max(initial=-np.inf),
        np.abs(nonzero).min(initial=np.inf),
        np.abs(finite).mean() if finite.size else 0.0,
        np.square(finite).mean() if finite.size else 0.0,
        nonzero.size,
        int(np.count_nonzero(half == 0)),
        int(np.count_nonzero(np.abs(nonzero) < np.finfo(np.float16).smallest_normal)),
        bool(np.all(finite == np.rint(finite))),
        dict(Counter((np.frexp(nonzero)[1] - 1).tolist())),
    )


def assert_like(
    got: ValueStatistics, wanted: ValueStatistics, *, counts_octaves: bool = True
) -> None:
    if not counts_octaves:
        assert not got.octaves
    for name in ValueStatistics.__dataclass_fields__:
        if name == "octaves" and not counts_octaves:
            continue
        assert getattr(got, name) == pytest.approx(getattr(wanted, name), rel=1e-6), name


def mixed(size: int, seed: int = 0) -> np.ndarray[Any, Any]:
    generator = np.random.default_rng(seed)
    values = generator.normal(size=size) * 10.0 ** generator.integers(-12, 6, size)
    values[:: max(1, size // 7)] = 0
    return values.astype(np.float32)


@pytest.mark.parametrize("size", [0, 1, 5, 1000, 600_000])
def test_statistics_of_an_array(size: int) -> None:
    array = mixed(size)
    assert_like(ValueStatistics.of(array), reference(array))


def test_statistics_count_what_is_not_finite() -> None:
    array = np.array([np.nan, np.inf, -np.inf, 2, 0, -3], np.float32)
    got = ValueStatistics.of(array)
    assert_like(got, reference(array))
    assert (got.nonfinite, got.amax, got.integer_valued) == (3, 3.0, True)
    assert ValueStatistics.of(array[:3]).amax == 0.0


def test_merged_statistics_equal_those_of_everything() -> None:
    array = mixed(999)
    merged = ValueStatistics()
    for part in np.array_split(array, [10, 11, 400]):
        merged = merged.merge(ValueStatistics.of(part))
    assert_like(merged, reference(array))


def test_float16_and_double_arrays() -> None:
    half = np.array([6e-8, 1e-5, 1], np.float16)
    assert ValueStatistics.of(half).subnormal == 2
    assert ValueStatistics.of(np.array([1e300])).amax == 1e300


def test_half_the_smallest_subnormal_is_flushed() -> None:
    array = np.array([2.0**-25, np.nextafter(np.float32(2.0**-25), np.float32(1))], np.float32)
    assert ValueStatistics.of(array).flushed == 1


CHAIN = (
    "g (float[n] x) => (float[n] y) { a = Mul (x, x) b = Floor (a) c = Sqrt (a) y = Add (b, c) }"
)


@pytest.mark.parametrize("budget", [1, 500, 2**28])
def test_values_of_the_main_graph_over_samples(budget: int) -> None:
    feeds = [{"x": mixed(100, seed)} for seed in range(3)]
    got = measure_ranges(build(CHAIN), feeds, budget_bytes=budget)
    x = np.concatenate([feed["x"] for feed in feeds])
    assert set(got.values) == {"x", "a", "b", "c", "y"}
    assert_like(got.values["x"], reference(x))
    assert_like(got.values["a"], reference(x * x))
    assert_like(got.values["b"], reference(np.floor(x * x)))
    assert got.values["b"].integer_valued
    assert not got.values["c"].integer_valued
    assert (got.samples, got.label, got.not_measured) == (3, "data", {})


def test_batches_stay_under_the_budget() -> None:
    model = build(CHAIN)
    feeds = DataSet.of("data", input_specs(model), [{"x": np.ones(100, np.float32)}])
    names = list(float_tensors(model))
    assert names == ["a", "b", "c", "y"]
    batches = list(value_batches(model, names, feeds, 800))
    assert batches == [["a", "b"], ["c", "y"]]


def test_exposure_leaves_the_model_as_it_was() -> None:
    model = build(CHAIN)
    before = ir.to_bytes(model)
    with with_outputs(model, ["a", "c", "y"]):
        assert [value.name for value in model.graph.outputs] == ["y", "a", "c"]
    assert ir.to_bytes(model) == before


def test_branches_of_if() -> None:
    model = build(
        "g (bool c, float[n] x) => (float[n] y) { y = If (c) <"
        " then_branch = t () => (float[n] ty) { ta = Mul (x, x) ty = Neg (ta) },"
        " else_branch = e () => (float[n] ey) { ey = Sqrt (x) } > }"
    )
    x = np.array([1, 4, 1e-9], np.float32)
    once = measure_ranges(model, {"c": np.array(True), "x": x})
    assert_like(once.values["ta"], reference(x * x), counts_octaves=False)
    assert_like(once.values["ty"], reference(-(x * x)), counts_octaves=False)
    assert "ey" not in once.values
    assert "never computed" in once.not_measured["ey"]
    both = measure_ranges(model, [{"c": np.array(c), "x": x} for c in (True, False, False)])
    assert_like(both.values["ey"], reference(np.sqrt(np.concatenate([x, x]))), counts_octaves=False)


LOOP = """g (int64 n, float[k] x) => (float[k] last, float[m,p] all) {
    t = Constant<value = bool {1}> ()
    last, all = Loop (n, t, x) < body = b (int64 i, bool go, float[k] s)
    => (bool stay, float[k] s2, float[p] o) {
        stay = Identity (go) s2 = Mul (s, s)
        f = Cast<to = 1> (i)
        one = Constant<value = int64[1] {1}> ()
        i1 = Reshape (i, one)
        grow = ConstantOfShape<value = float[1] {2.5}> (i1)
        o = Reshape (f, one)
    } > }"""


def test_loops_whose_values_change_their_shape() -> None:
    x = np.array([1.5, 0.01], np.float32)
    got = measure_ranges(build(LOOP), {"n": np.array(4), "x": x})
    states = [x]
    for _ in range(4):
        states.append(states[-1] * states[-1])
    assert_like(got.values["s"], reference(np.stack(states[:-1])), counts_octaves=False)
    assert_like(got.values["s2"], reference(np.stack(states[1:])), counts_octaves=False)
    assert_like(got.values["f"], reference(np.arange(4.0)), counts_octaves=False)
    assert got.values["grow"].count == 0 + 1 + 2 + 3
    assert got.values["grow"].amax == 2.5


def test_a_loop_of_no_steps_measures_nothing_inside() -> None:
    model = build(
        LOOP.replace("float[m,p] all", "float[m,1] all").replace("float[p] o", "float[1] o")
    )
    got = measure_ranges(model, {"n": np.array(0), "x": np.ones(2, np.float32)})
    assert "s2" not in got.values
    assert "s2" in got.not_measured


def test_scan_and_nesting() -> None:
    model = build(
        "g (float[k] s, float[t,k] x) => (float[k] last, float[t,k] all) {"
        " last, all = Scan (s, x) < num_scan_inputs = 1, scan_output_axes = [0],"
        " body = b (float[k] a, float[k] r) => (float[k] a2, float[k] o) {"
        " a2 = Add (a, r) total = ReduceSum<keepdims = 0> (r) zero = Constant<value = float {0}> ()"
        " positive = Greater (total, zero) o = If (positive) <"
        " then_branch = t () => (float[k] ty) { ty = Mul (a2, r) },"
        " else_branch = e () => (float[k] ey) { ey = Neg (r) } > } > }"
    )
    x = np.array([[1, 2], [-3, 1], [0.5, 0.25], [-1, -1]], np.float32)
    got = measure_ranges(model, {"s": np.zeros(2, np.float32), "x": x})
    sums = np.cumsum(x, axis=0)
    assert_like(got.values["a2"], reference(sums), counts_octaves=False)
    positive = x.sum(1) > 0
    assert_like(got.values["ty"], reference((sums * x)[positive]), counts_octaves=False)
    assert_like(got.values["ey"], reference(-x[~positive]), counts_octaves=False)
    assert_like(got.values["r"], reference(x), counts_octaves=False)
    assert not got.not_measured


@pytest.mark.parametrize("opset", [11, 12, 13, 16, 18, 21, 24])
def test_bodies_in_every_opset(opset: int) -> None:
    model = build(LOOP, opset=opset)
    got = measure_ranges(model, {"n": np.array(3), "x": np.array([2, 0], np.float32)})
    assert got.values["s2"].amax == 256
    assert got.values["s2"].nonzero == 3


def test_values_out_of_reach_are_reported() -> None:
    model = build(
        "g (float[n] x) => (float[m] y) { s = SequenceConstruct (x, x)"
        " y = ConcatFromSequence<axis = 0> (s) }"
    )
    got = measure_ranges(model, {"x": np.ones(3, np.float32)})
    assert got.not_measured == {"s": "is no tensor"}
