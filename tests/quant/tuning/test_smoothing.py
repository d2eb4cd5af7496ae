"""Smoothing factors: powers of two that lower the error of products, or none."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mpgraph.quant.tuning import product_error, smoothing_factors
from tests.quant.tuning.test_error import rows_of

ALPHAS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def case(seed, spread, channels=24):
    rng = np.random.default_rng(seed)
    activation = rng.normal(size=(32, channels)) * 10 ** rng.uniform(-spread, spread, channels)
    matrix = rng.normal(size=(channels, 16))
    return rows_of(activation.astype(np.float32)), matrix.astype(np.float32)


def test_outliers_go_into_the_weights():
    rows, matrix = case(0, 2)
    factors = smoothing_factors(rows, [matrix], ALPHAS, 8)
    before = product_error(rows, matrix, "static", 8)
    after = product_error(
        rows.times(np.reciprocal(factors)), matrix * factors[:, np.newaxis], "static", 8
    )
    assert after < before / 4


@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 1000), spread=st.floats(0, 3))
def test_factors_are_powers_of_two_and_no_product_changes(seed, spread):
    rows, matrix = case(seed, spread)
    factors = smoothing_factors(rows, [matrix], ALPHAS, 8)
    assert factors.dtype == np.float32
    mantissa, exponents = np.frexp(factors)
    assert (mantissa == 0.5).all() and np.abs(exponents).max() <= 13
    smoothed = rows.times(np.reciprocal(factors)).values
    products = rows.values[:, :, np.newaxis] * matrix
    assert np.array_equal(smoothed[:, :, np.newaxis] * (matrix * factors[:, np.newaxis]), products)


def test_even_channels_are_left_alone():
    rng = np.random.default_rng(0)
    rows = rows_of(rng.uniform(-1, 1, (64, 16)).astype(np.float32))
    matrix = np.tile(np.linspace(-1, 1, 8, dtype=np.float32), (16, 1))
    assert (smoothing_factors(rows, [matrix], ALPHAS, 8) == 1).all()


def test_without_exponents_nothing_is_tried():
    rows, matrix = case(0, 2)
    assert (smoothing_factors(rows, [matrix], (), 8) == 1).all()


def test_channels_of_zeros_are_no_problem():
    rows, matrix = case(1, 1)
    rows.values[:, 3] = rows.low[:, 3] = rows.high[:, 3] = 0
    matrix[5] = 0
    assert np.isfinite(smoothing_factors(rows, [matrix, matrix], ALPHAS, 8)).all()
