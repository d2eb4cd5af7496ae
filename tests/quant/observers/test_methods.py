"""Percentile, entropy and squared error beside what numpy finds by trying everything."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph.quant.observers import Observer
from mpgraph.quant.observers.entropy import best_threshold, divergences

SHAPES = {
    "normal": lambda random: random.standard_normal(20_000),
    "shifted": lambda random: random.standard_normal(20_000) * 2 + 3,
    "relu": lambda random: np.maximum(random.standard_normal(20_000), 0),
    "heavy": lambda random: random.standard_t(3, 20_000),
    "tiny": lambda random: random.uniform(-1e-20, 1e-20, 20_000),
    "large": lambda random: random.standard_normal(20_000) * 5000,
}
each_shape = pytest.mark.parametrize("shape", SHAPES)


def elements(shape: str) -> np.ndarray:
    return SHAPES[shape](np.random.default_rng(7)).astype(np.float32)


def found(
    array: np.ndarray, levels: int = 256, symmetric: bool = False, **fields: object
) -> tuple[float, float]:
    made = Observer(**fields).accumulator()
    made.update(array)
    one = made.range(levels, symmetric)
    return float(one.low), float(one.high)


def error(array: np.ndarray, low: float, high: float, levels: int, symmetric: bool) -> float:
    """Mean squared error of the elements when they are quantized, element by element."""
    wide = array.astype(np.float64)
    if symmetric:
        limit, levels = max(-low, high), levels - 1
        low, high = -limit, limit
    low, high = min(low, 0.0), max(high, 0.0)
    scale = (high - low) / (levels - 1)
    zero = np.rint(-low / scale)
    steps = np.clip(np.rint(wide / scale) + zero, 0, levels - 1) - zero
    return float(np.mean(np.square(steps * scale - wide)))


def last_of_share(ordered: np.ndarray, outside: float) -> float:
    """The largest element that a range has to hold where a share of all may lie beyond it."""
    return float(ordered[-1 - int(round(outside * len(ordered), 6))])


@each_shape
@pytest.mark.parametrize("percentile", [99.9, 95.0, 100.0])
def test_percentile(shape: str, percentile: float) -> None:
    array = elements(shape)
    outside = (100 - percentile) / 200
    ordered = np.sort(array)
    expected = -last_of_share(-ordered[::-1], outside), last_of_share(ordered, outside)
    width = float(np.abs(array).max()) / 2048
    asymmetric = found(array, method="percentile", percentile=percentile)
    assert asymmetric == pytest.approx(expected, abs=width)
    limit = last_of_share(np.sort(np.abs(array)), 2 * outside)
    expected = max(-limit, array.min()), min(limit, array.max())
    symmetric = found(array, symmetric=True, method="percentile", percentile=percentile)
    assert symmetric == pytest.approx(expected, abs=width)


@each_shape
@pytest.mark.parametrize(("levels", "symmetric"), [(256, False), (16, False), (16, True)])
def test_squared_error_is_near_the_least(shape: str, levels: int, symmetric: bool) -> None:
    array = elements(shape)
    own = error(array, *found(array, levels, symmetric, method="mse"), levels, symmetric)
    ends = float(array.min()), float(array.max())
    shares = np.linspace(0.04, 1, 25)
    least = min(
        error(array, ends[0] * a, ends[1] * b, levels, symmetric)
        for a in shares
        for b in (shares if not symmetric else [a])
    )
    assert own <= 1.06 * least
    assert own <= 1.001 * error(array, *ends, levels, symmetric)


def divergence(counts: np.ndarray, end: int, levels: int) -> float:
    """The published recipe, bin by bin."""
    observed = counts[:end].astype(float).copy()
    observed[-1] += counts[end:].sum()
    expected = np.zeros(end)
    for level in range(levels):
        first, last = level * end // levels, (level + 1) * end // levels
        filled = [index for index in range(first, last) if counts[index]]
        for index in filled:
            expected[index] = counts[first:last].sum() / len(filled)
    observed, expected = observed / observed.sum(), expected / expected.sum()
    return sum(p * np.log(p / max(q, 1e-12)) for p, q in zip(observed, expected, strict=True) if p)


@pytest.mark.parametrize("levels", [4, 16, 33])
@pytest.mark.parametrize("share", [1.0, 0.5, 0.05])
def test_divergences_are_those_of_the_definition(levels: int, share: float) -> None:
    random = np.random.default_rng(levels)
    counts = random.integers(1, 1000, 200) * (random.random(200) < share)
    counts[-1] = 3
    ends = np.array([200, 150, 77, levels])
    expected = [divergence(counts, end, levels) if counts[:end].any() else np.inf for end in ends]
    np.testing.assert_allclose(
        divergences(counts.astype(float), ends, levels), expected, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_threshold_has_almost_the_least_divergence(seed: int) -> None:
    random = np.random.default_rng(seed)
    magnitudes = np.abs(random.standard_t(4, 50_000))
    counts, _ = np.histogram(magnitudes, 300)
    counts[0] = counts[1]
    levels = 16
    losses = {
        end: divergence(counts, end, levels)
        for end in range(levels, 301)
        if counts[end:].sum() <= 0.1 * counts.sum()
    }
    own = losses[best_threshold(counts.astype(float), levels)]
    assert own <= min(losses.values()) * 1.15
    assert own < losses[max(losses)]


def test_entropy_cuts_outliers_that_minmax_keeps() -> None:
    array = elements("normal")
    array[:3] = 40, -45, 50
    assert found(array, method="minmax") == (-45, 50)
    low, high = found(array, method="entropy")
    assert -12 < low < -3
    assert 3 < high < 12


def test_entropy_of_elements_far_from_zero() -> None:
    """All of them in one bin would be described without a loss, and be worth nothing."""
    array = np.random.default_rng(0).uniform(5, 10, 5000).astype(np.float32)
    low, high = found(array, method="entropy")
    assert low == array.min()
    assert high > 9.4


@pytest.mark.parametrize("seed", range(10))
def test_entropy_of_few_elements_keeps_them(seed: int) -> None:
    array = np.random.default_rng(seed).standard_normal(9).astype(np.float32)
    assert found(array, method="entropy") == (array.min(), array.max())


def test_entropy_with_as_many_levels_as_bins_is_minmax() -> None:
    array = elements("heavy")
    assert found(array, 65536, method="entropy") == found(array, 65536, method="minmax")
