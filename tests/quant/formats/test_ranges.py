"""The least and the greatest value per scale, beside numpy over the whole tensor."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from mpgraph.errors import InputError
from mpgraph.quant.formats import CHUNK_ELEMENTS, Layout, range_of
from tests.quant.formats.cases import LAYOUTS, SHAPE


def expected_range(array, layout):
    shape = layout.scale_shape(array.shape)
    index = layout.spread(np.arange(np.prod(shape, dtype=int)).reshape(shape), array.shape)
    groups = np.broadcast_to(index, array.shape).reshape(-1)
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    np.minimum.at(low.reshape(-1), groups, array.reshape(-1).astype(np.float64))
    np.maximum.at(high.reshape(-1), groups, array.reshape(-1).astype(np.float64))
    return low, high


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64, ml_dtypes.bfloat16])
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_as_numpy(layout, dtype):
    array = (np.random.default_rng(1).normal(size=SHAPE) + 0.5).astype(dtype)
    low, high = range_of(array, layout)
    least, greatest = expected_range(array, layout)
    assert np.array_equal(low, least)
    assert np.array_equal(high, greatest)
    assert low.dtype == high.dtype == (np.float64 if dtype == np.float64 else np.float32)


@pytest.mark.parametrize("layout", [Layout(), Layout(0), Layout(2), Layout(1, 1000), Layout(2, 2)])
def test_chunks_do_not_show(layout):
    shape = (3, CHUNK_ELEMENTS // 4 + 1, 3)
    array = np.random.default_rng(2).normal(size=shape).astype(np.float32)
    least, greatest = expected_range(array, layout)
    low, high = range_of(array, layout)
    assert np.array_equal(low, least)
    assert np.array_equal(high, greatest)


@pytest.mark.parametrize("order", [(2, 0, 1), (0, 2, 1)])
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_strides_do_not_show(layout, order):
    array = np.random.default_rng(3).normal(size=SHAPE).astype(np.float32).transpose(order)
    for found, expected in zip(range_of(array, layout), expected_range(array, layout), strict=True):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    ("layout", "shape"), [(Layout(), (0,)), (Layout(1), (0, 3)), (Layout(0, 2), (5, 0))]
)
def test_a_range_of_nothing_is_zero(layout, shape):
    low, high = range_of(np.zeros(shape, np.float16), layout)
    assert low.shape == high.shape == layout.scale_shape(shape)
    assert not low.any()
    assert not high.any()


def test_a_scalar():
    low, high = range_of(np.array(3.0, np.float32), Layout())
    assert (low, high) == (3, 3)
    assert low.shape == high.shape == ()


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_nan_and_infinities_are_counted_by_name(layout, dtype):
    array = np.zeros(SHAPE, dtype)
    array[1, 2, :] = [np.nan, np.inf, -np.inf, np.nan]
    text = r"tensor 'encoder.w': 2 NaN and 2 infinities among 60 values"
    with pytest.raises(InputError, match=text):
        range_of(array, layout, name="encoder.w")


def test_integers_are_refused():
    with pytest.raises(InputError, match="tensor 'ids': it is int64, and only floats"):
        range_of(np.zeros(3, np.int64), Layout(), name="ids")
