"""Every observer: merges are exact, in any order; all dtypes; configurations go through JSON."""

from __future__ import annotations

import json

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpgraph.errors import DataError
from mpgraph.quant.observers import METHODS, PART, Observer

OBSERVERS = [
    *(Observer(method=method) for method in METHODS),
    Observer(method="percentile", percentile=90.0, axis=0),
    Observer(method="entropy", axis=-1),
    Observer(method="moving_average", momentum=0.5, axis=1),
]
IDS = [f"{one.method}-{one.axis}" for one in OBSERVERS]
each_observer = pytest.mark.parametrize("observer", OBSERVERS, ids=IDS)


def arrays(seed: int, count: int) -> list[np.ndarray]:
    """Arrays of three rows and columns, over many magnitudes, some with masks, NaN and infinity."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        array = random.standard_normal((3, int(random.integers(1, 40)), 3))
        array = (array * 2.0 ** random.integers(-12, 12)).astype(np.float32)
        if random.random() < 0.4:
            array[:, 0, 0] = random.choice([np.nan, np.inf, -np.inf, -3.4e38, -1e4, 0.0])
        found.append(array.reshape(3, 3, -1) if random.random() < 0.5 else array[:, :3])
    return [np.resize(one, (3, one.shape[1], 3)) for one in found]


def padded(observer: Observer, found: list[np.ndarray]) -> list[np.ndarray]:
    """The same number of channels in every array."""
    if observer.axis == 1:
        return [one[:, :1] for one in found]
    return found


def accumulated(observer: Observer, found: list[np.ndarray], first: int = 0) -> object:
    made = observer.accumulator()
    for sample, array in enumerate(found, first):
        made.update(array, sample)
    return made


def state(accumulator: object) -> str:
    return json.dumps(accumulator.get_config(), allow_nan=False)


@each_observer
@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), cut=st.integers(0, 6))
def test_a_merge_is_one_over_both(observer: Observer, seed: int, cut: int) -> None:
    found = padded(observer, arrays(seed, 6))
    whole = accumulated(observer, found)
    first, second = accumulated(observer, found[:cut]), accumulated(observer, found[cut:], cut)
    assert state(first.merge(second)) == state(whole)
    assert state(second.merge(first)) == state(whole)


@each_observer
def test_the_order_of_samples_does_not_matter(observer: Observer) -> None:
    found = padded(observer, arrays(5, 8))
    made = observer.accumulator()
    for sample in (3, 1, 7, 0, 2, 6, 5, 4):
        made.update(found[sample], sample)
    assert state(made) == state(accumulated(observer, found))


@each_observer
def test_a_merge_leaves_both_as_they_were(observer: Observer) -> None:
    found = padded(observer, arrays(9, 4))
    one, two = accumulated(observer, found[:2]), accumulated(observer, found[2:], 2)
    before = state(one), state(two)
    merged = one.merge(two)
    merged.update(found[0], 4)
    assert (state(one), state(two)) == before


@each_observer
def test_configurations_go_through_json(observer: Observer) -> None:
    made = accumulated(observer, padded(observer, arrays(2, 4)))
    again = Observer.from_config(json.loads(json.dumps(observer.get_config())))
    assert again == observer
    restored = again.accumulator_from(json.loads(state(made)))
    assert state(restored) == state(made)
    for levels, symmetric in ((256, False), (255, True), (16, False)):
        one, two = made.range(levels, symmetric), restored.range(levels, symmetric)
        np.testing.assert_array_equal(one.low, two.low)
        np.testing.assert_array_equal(one.high, two.high)
    assert restored.left_out == made.left_out


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int64, np.bool_, np.float16, np.float64, ml_dtypes.bfloat16]
)
def test_any_dtype(method: str, dtype: type) -> None:
    made = Observer(method=method).accumulator()
    made.update(np.array([[0, 1], [1, 3]]).astype(dtype))
    found = made.range()
    assert (float(found.low), float(found.high)) == (0.0, 1.0 if dtype is np.bool_ else 3.0)
    assert made.count == 4


@pytest.mark.parametrize("method", METHODS)
def test_empty_arrays_and_nonfinite_elements_are_skipped_and_counted(method: str) -> None:
    made = Observer(method=method).accumulator()
    made.update(np.zeros((0, 3), np.float32), 0)
    with pytest.raises(DataError, match="always empty"):
        made.range()
    made.update(np.array([np.nan, np.inf], np.float32), 1)
    with pytest.raises(DataError, match="all 2 elements are NaN or infinite"):
        made.range()
    made.update(np.array([np.nan, -2, 1, -np.inf], np.float32), 2)
    found = made.range()
    assert (float(found.low), float(found.high)) == (-2.0, 1.0)
    assert (made.count, made.nonfinite) == (6, 4)


@pytest.mark.parametrize("method", METHODS)
def test_scalars_and_one_value(method: str) -> None:
    made = Observer(method=method).accumulator()
    made.update(np.float32(0.75))
    made.update(np.full((2, 2), 0.75, np.float32), 1)
    assert float(made.range().low) == float(made.range().high) == 0.75


def test_moving_average_follows_its_formula() -> None:
    made = Observer(method="moving_average", momentum=0.25).accumulator()
    samples = np.random.default_rng(0).standard_normal((5, 30)).astype(np.float32)
    low, high = float(samples[0].min()), float(samples[0].max())
    for sample in samples[1:]:
        low += 0.25 * (float(sample.min()) - low)
        high += 0.25 * (float(sample.max()) - high)
    # In two arrays each, and from the last to the first.
    for index in (4, 3, 2, 1, 0):
        made.update(samples[index, :10], index)
        made.update(samples[index, 10:], index)
    np.testing.assert_allclose([made.range().low, made.range().high], [low, high], rtol=1e-12)


def test_a_later_merge_comes_after_all_samples() -> None:
    observer = Observer(method="moving_average", momentum=0.5)
    found = arrays(1, 6)
    first, second = accumulated(observer, found[:4]), accumulated(observer, found[4:])
    assert state(first.merge(second.later(4))) == state(accumulated(observer, found))


def test_channels() -> None:
    array = np.random.default_rng(1).standard_normal((4, 5, 6)).astype(np.float32)
    for axis in (0, 1, 2, -1, -2):
        made = Observer(axis=axis).accumulator()
        made.update(array)
        rest = tuple(set(range(3)) - {axis % 3})
        np.testing.assert_array_equal(made.range().low, array.min(axis=rest))
        np.testing.assert_array_equal(made.range().high, array.max(axis=rest))


def test_channels_that_do_not_fit_are_an_error() -> None:
    made = Observer(axis=1).accumulator()
    made.update(np.zeros((2, 3), np.float32))
    with pytest.raises(DataError, match="4 channels on axis 1, 3 before"):
        made.update(np.zeros((2, 4), np.float32))
    with pytest.raises(DataError, match="has no axis 1"):
        made.update(np.zeros(3, np.float32))


def test_a_large_array_counts_for_all_its_elements() -> None:
    """Of two arrays the larger one outweighs the other, though only a part of it is counted."""
    made = Observer(method="percentile", percentile=90.0).accumulator()
    random = np.random.default_rng(0)
    large, small = random.uniform(0, 1, 20 * PART), random.uniform(0, 50, PART)
    for array in (large, small):
        made.update(array.astype(np.float32))
    expected = np.quantile(np.concatenate([large, small]), 0.95)
    assert float(made.range().high) == pytest.approx(expected, rel=0.3)
    assert expected < 3


@pytest.mark.parametrize(
    "fields",
    [{"method": "median"}, {"percentile": 50}, {"percentile": 101}, {"momentum": 0}, {"mode": 1}],
)
def test_impossible_observers_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(DataError):
        Observer.from_config(fields)
