"""Masks stay out of ranges by evidence; whatever else is far from the rest stays in."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph.quant.observers import METHODS, Observer

LOWEST = float(np.finfo(np.float32).min)


def logits(seed: int = 0, shape: tuple[int, ...] = (2, 4, 32, 32)) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32) * 3


def observed(array: np.ndarray, method: str = "minmax") -> object:
    made = Observer(method=method).accumulator()
    made.update(array)
    return made


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mask", [-np.inf, LOWEST, -1e4, -1e9, -65504.0, -100.0])
@pytest.mark.parametrize("how", ["added", "written"])
def test_masks_are_kept_out(method: str, mask: float, how: str) -> None:
    array = logits()
    masked = np.triu(np.ones((32, 32), bool), 1)
    plain = array[:, :, ~masked]
    with np.errstate(over="ignore"):
        array[:, :, masked] = mask if how == "written" else array[:, :, masked] + np.float32(mask)
    made = observed(array, method)
    found = made.range()
    assert plain.min() <= found.low < found.high <= plain.max()
    if method == "minmax":
        assert (found.low, found.high) == (plain.min(), plain.max())
    if np.isfinite(mask):
        assert sum(group.count for group in made.left_out) == 2 * 4 * masked.sum()
    else:
        assert made.nonfinite == 2 * 4 * masked.sum()


def test_two_masks_that_met_are_kept_out() -> None:
    array = logits()
    array[:, :, :, 20:] -= 1e4
    array[:, :, 10:, :] -= 1e4
    plain = array[:, :, :10, :20]
    found = observed(array).range()
    assert (found.low, found.high) == (plain.min(), plain.max())


def test_a_padding_mask_in_few_samples_is_kept_out() -> None:
    made = Observer().accumulator()
    plain = [logits(seed) for seed in range(20)]
    for index, array in enumerate(plain):
        masked = array.copy()
        if index == 7:
            masked[0, :, :, 28:] += LOWEST / 2
        made.update(masked, index)
    # The masked elements of that one sample may have been the extremes.
    assert float(made.range().low) == pytest.approx(min(one.min() for one in plain), rel=0.2)


@pytest.mark.parametrize("method", ["minmax", "moving_average"])
@pytest.mark.parametrize("seed", range(8))
def test_heavy_tails_stay_in(method: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    tails = [
        random.standard_t(1.2, 20_000) * 10,
        random.lognormal(0, 3, 20_000),
        -(random.pareto(0.8, 20_000)) * 5,
        random.standard_cauchy(5000) * random.standard_cauchy(5000),
    ]
    for tail in tails:
        array = tail.astype(np.float32)
        found = observed(array, method).range()
        assert (found.low, found.high) == (array.min(), array.max())


@pytest.mark.parametrize("value", [-1437.25, 2008.0, 91.5])
def test_the_same_hot_element_in_every_sample_stays_in(value: float) -> None:
    """The first token of a text has the same huge activation each time."""
    made = Observer().accumulator()
    for seed in range(30):
        array = logits(seed, (1, 16, 64))
        array[0, 0, 5] = value
        made.update(array, seed)
    found = made.range()
    assert value in (float(found.low), float(found.high))


@pytest.mark.parametrize("centre", [-90.0, -130.0, -180.0, -1000.0, 400.0])
def test_a_hot_channel_stays_in(centre: float) -> None:
    array = logits(3, (64, 128))
    array[:, 17] += centre
    found = observed(array).range()
    assert (found.low, found.high) == (array.min(), array.max())


def test_saturation_stays_in() -> None:
    array = np.clip(logits() * 30, -128, 127)
    found = observed(array).range()
    assert (found.low, found.high) == (-128, 127)


def test_a_mask_alone_keeps_its_levels() -> None:
    array = np.where(np.triu(np.ones((16, 16), bool)), -1e4, 0).astype(np.float32)
    found = observed(array).range()
    assert (found.low, found.high) == (-1e4, 0)


def test_one_outlier_in_a_part_is_no_mask() -> None:
    from mpgraph.quant.observers import summarize_part

    array = logits(1, (100,))
    array[3] = 900
    made = Observer().accumulator()
    made.add(summarize_part(100, 0, float(array.min()), 900.0, array, 1))
    assert float(made.range().high) == 900
