"""The histogram grows without a loss: it equals one that had its final width from the start."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpgraph.quant.observers.histogram import HALF, Histogram
from mpgraph.quant.observers.percentile import Percentile
from mpgraph.quant.observers.summary import PART, summarize, summarize_part


def counted(*arrays: np.ndarray) -> Histogram:
    made = Histogram()
    for array in arrays:
        made.add(array)
    return made


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    exponents=st.lists(st.integers(-130, 5), min_size=1, max_size=5),
)
def test_bins_are_those_of_numpy(seed: int, exponents: list[int]) -> None:
    random = np.random.default_rng(seed)
    arrays = [
        (random.uniform(-1, 1, 50) * 2.0**exponent).astype(np.float32) for exponent in exponents
    ]
    bins = counted(*arrays).bins([])
    edges = np.arange(-HALF, HALF + 1) * bins.width
    expected, _ = np.histogram(np.concatenate(arrays).astype(np.float64), edges)
    np.testing.assert_array_equal(bins.counts, expected)
    largest = max(float(np.abs(array).max()) for array in arrays)
    assert largest <= HALF * bins.width


def test_the_width_is_the_least_that_reaches_the_largest() -> None:
    for largest in (0.75, 1.0, 1.5, 63.9):
        bins = counted(np.array([largest], np.float32)).bins([])
        assert HALF / 2 * bins.width <= largest < HALF * bins.width


@pytest.mark.parametrize("values", [[100.0, -5.0, 3.0], [-2000.0, 64.0, 70.0, 1e-3], [3e38, 1.0]])
def test_large_values_join_the_others_on_one_scale(values: list[float]) -> None:
    array = np.array(values, np.float32)
    made = counted(array)
    bins = made.bins(list(made.bands))
    filled = np.flatnonzero(bins.counts)
    inside = [
        np.any(
            (bins.centres[filled] - bins.width / 2 <= one)
            & (one <= bins.centres[filled] + bins.width / 2)
        )
        for one in array.astype(np.float64)
    ]
    assert all(inside)
    assert bins.counts.sum() == array.size


def test_bands_that_are_not_asked_for_are_left_out() -> None:
    made = counted(np.array([1.0, -1e4, -1e4, 100.0], np.float32))
    assert made.bins([]).counts.sum() == 1
    assert made.bins([7]).counts.sum() == 2


def test_weights_are_counts() -> None:
    array = np.array([1.0, -3.0, 500.0], np.float32)
    weighted = Histogram()
    weighted.add(array, 3)
    assert weighted.get_config() == counted(array, array, array).get_config()


def test_json() -> None:
    made = counted(np.array([1.0, -0.25, 1e5, -1e9], np.float32))
    text = json.dumps(made.get_config())
    assert json.dumps(Histogram.from_config(json.loads(text)).get_config()) == text
    for damaged in ("AAAA", "????", made.get_config()["bands"]["17"]):
        with pytest.raises(ValueError):
            Histogram.from_config({"exponent": 1, "counts": damaged, "bands": {}})


@pytest.mark.parametrize("size", [1, 100, PART, PART + 1, 5 * PART + 3])
def test_an_array_reduced_elsewhere_is_summarized_alike(size: int) -> None:
    array = np.random.default_rng(size).standard_normal(size).astype(np.float32)
    whole = summarize(array)
    part = summarize_part(
        size, 0, float(array.min()), float(array.max()), array[:: whole.step], whole.step
    )
    one, two = Percentile(), Percentile()
    one.add(whole)
    two.add(part)
    assert one.get_config() == two.get_config()
    assert whole.part.size <= PART
    assert (whole.part.size - 1) * whole.step < size <= whole.part.size * whole.step


def test_a_part_of_an_array_stands_for_the_rest() -> None:
    array = np.random.default_rng(0).standard_normal(3000).astype(np.float32)
    array[:1500] -= 1e4
    array[0] = 50_000
    found = summarize_part(3000, 7, -10_010.0, 50_000.0, array[1::3], 3)
    exact = summarize(array)
    assert set(found.bands) == set(exact.bands)
    assert found.bands[-14].count == pytest.approx(1500, abs=3)
    assert found.bands[-14].low == -10_010.0
    assert (found.bands[16].count, found.bands[16].high) == (1, 50_000.0)
    assert found.nonfinite == 7
