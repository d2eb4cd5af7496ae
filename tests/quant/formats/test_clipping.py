"""Scales of least squared error: never worse than the whole range, and what a plain search finds."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph.errors import InputError
from mpgraph.quant.formats import (
    SHRINKS,
    Format,
    Layout,
    dequantize,
    mse_parameters,
    parameters_from_range,
    quantize,
    range_of,
    squared_error,
)
from tests.quant.formats.cases import LAYOUTS, SHAPE

FORMATS = (
    Format("int4", True),
    Format("uint4", False),
    Format("int8", True, narrow=True),
    Format("uint4", False, bits=2),
    Format("float8e4m3fn", True),
)
TENSORS = ((300, 40), (3, 100, 8))


def plain_error(array, parameters):
    """Per scale, in float64, from the values that are really stored."""
    real = dequantize(quantize(array, parameters), parameters).astype(np.float64)
    squares = ((real - array) ** 2).reshape(-1)
    shape = parameters.scale.shape
    index = parameters.layout.spread(np.arange(parameters.scale.size).reshape(shape), array.shape)
    groups = np.broadcast_to(index, array.shape).reshape(-1)
    return np.bincount(groups, squares, parameters.scale.size).reshape(shape)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_errors_are_those_of_the_stored_values(format, layout):
    array = np.random.default_rng(1).normal(size=SHAPE).astype(np.float32)
    parameters = parameters_from_range(*range_of(array * 0.6, layout), format, layout)
    expected = plain_error(array, parameters)
    assert squared_error(array, parameters) == pytest.approx(expected, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("layout", [Layout(), Layout(0), Layout(-1), Layout(1, 32)], ids=str)
@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize("shape", TENSORS)
def test_no_scale_is_worse_than_that_of_the_whole_range(format, layout, shape):
    array = np.random.default_rng(2).standard_t(4, size=shape).astype(np.float32)
    whole = parameters_from_range(*range_of(array, layout), format, layout)
    found = mse_parameters(array, format, layout)
    before, after = plain_error(array, whole), plain_error(array, found)
    assert (after <= before).all()
    if format.highest - format.lowest < 16:
        assert after.sum() < before.sum()


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_the_best_candidate_is_taken_for_each_scale(format):
    layout = Layout.per_axis(0)
    array = np.random.default_rng(3).standard_t(3, size=(6, 500)).astype(np.float32)
    low, high = range_of(array, layout)
    tried = [
        parameters_from_range(low * factor, high * factor, format, layout)
        for factor in (1.0, *SHRINKS)
    ]
    least = np.min([plain_error(array, one) for one in tried], axis=0)
    found = plain_error(array, mse_parameters(array, format, layout))
    assert found == pytest.approx(least, rel=1e-5)


def test_an_outlier_among_many_is_clipped():
    array = np.random.default_rng(4).normal(size=100_000).astype(np.float32)
    format = Format("int4", True)
    found = mse_parameters(array, format, Layout())
    whole = parameters_from_range(*range_of(array, Layout()), format, Layout())
    assert found.scale < 0.75 * whole.scale


@pytest.mark.parametrize("size", [0, 1])
def test_nothing_and_zeros_keep_the_plain_scale(size):
    found = mse_parameters(np.zeros((size, 4), np.float32), Format("int8", True), Layout(1))
    assert (found.scale == 1).all()


def test_ends_of_float32_do_not_mislead():
    array = np.array([3e38, -3e38, 1e-30, 0], np.float32)
    found = mse_parameters(array, Format("int8", True), Layout())
    assert np.isfinite(dequantize(quantize(array, found), found)).all()


@pytest.mark.parametrize("factor", [0.0, -1.0, np.nan, np.inf])
def test_candidates_that_are_refused(factor):
    with pytest.raises(InputError, match=f"{factor} is no factor of a range"):
        mse_parameters(np.ones(3, np.float32), Format("int8", True), Layout(), candidates=[factor])


def test_nan_is_refused_by_name():
    array = np.array([1, np.nan], np.float32)
    with pytest.raises(InputError, match="tensor 'w': 1 NaN"):
        mse_parameters(array, Format("int8", True), Layout(), name="w")
