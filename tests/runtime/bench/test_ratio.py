from __future__ import annotations

import numpy as np
import pytest

from mpgraph.runtime.bench.ratio import Ratio, ratio_of, student_quantile


@pytest.mark.parametrize(
    ("probability", "freedom", "wanted"),
    [
        (0.5, 4, 0.0),
        (0.975, 1, 12.7062),
        (0.975, 4, 2.7764),
        (0.975, 9, 2.2622),
        (0.995, 4, 4.6041),
        (0.95, 30, 1.6973),
    ],
)
def test_quantiles_are_those_of_the_tables(probability: float, freedom: int, wanted: float) -> None:
    assert student_quantile(probability, freedom) == pytest.approx(wanted, abs=1e-4)


def test_a_ratio_is_paired_by_round() -> None:
    generator = np.random.default_rng(0)
    a = generator.lognormal(sigma=1.0, size=(5, 20))
    got = ratio_of("a", "b", a, a * 1.25, 0.95)
    assert (got.ratio, got.low, got.high) == pytest.approx((1.25, 1.25, 1.25))
    assert got.faster == "a"
    assert ratio_of("b", "a", a * 1.25, a, 0.95).faster == "a"


def test_the_interval_is_that_of_the_medians_of_the_sets() -> None:
    logs = np.array([0.1, 0.2, 0.3])
    a = np.ones((3, 5))
    b = np.exp(logs)[:, None] * np.array([1.0, 1.0, 1.0, 9.0, 1.0])
    got = ratio_of("a", "b", a, b, 0.95)
    reach = 4.3027 * 0.1 / np.sqrt(3)
    assert np.log([got.ratio, got.low, got.high]) == pytest.approx(
        [0.2, 0.2 - reach, 0.2 + reach], abs=1e-4
    )
    assert got.faster is None


def test_equal_models_are_told_apart_as_rarely_as_promised() -> None:
    generator = np.random.default_rng(1)
    told = 0
    for _ in range(200):
        # Sessions differ by 5 %, runs by 20 %: both sides have the same distribution.
        lasting = generator.normal(scale=0.05, size=(2, 5, 1))
        a, b = np.exp(lasting + generator.normal(scale=0.2, size=(2, 5, 30)))
        told += ratio_of("a", "b", a, b, 0.95).faster is not None
    assert told <= 20


def test_a_real_difference_is_found() -> None:
    generator = np.random.default_rng(2)
    a, b = np.exp(generator.normal(scale=0.02, size=(2, 5, 30)))
    assert ratio_of("a", "b", a, 1.1 * b, 0.95).faster == "a"


def test_an_interval_that_holds_1_has_no_winner() -> None:
    assert Ratio("a", "b", 1.1, 0.99, 1.2).faster is None
    assert Ratio("a", "b", 1.1, 1.01, 1.2).faster == "a"
    assert Ratio("a", "b", 0.9, 0.8, 0.99).faster == "b"
