"""Layouts: shapes of scales, and walks that reach each element once with its own scale."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph.errors import InputError
from mpgraph.quant.formats import CHUNK_ELEMENTS, Layout
from mpgraph.quant.formats.layout import chunks
from tests.quant.formats.cases import LAYOUTS, SHAPE


@pytest.mark.parametrize(
    ("layout", "shape", "expected"),
    [
        (Layout.per_tensor(), (3, 5), ()),
        (Layout.per_tensor(), (), ()),
        (Layout.per_axis(1), (3, 5, 4), (5,)),
        (Layout.per_axis(-1), (3, 5, 4), (4,)),
        (Layout.per_block(0, 2), (3, 5, 4), (2, 5, 4)),
        (Layout.per_block(-2, 2), (3, 5, 4), (3, 3, 4)),
        (Layout.per_block(1, 9), (3, 5), (3, 1)),
        (Layout.per_block(0, 4), (8,), (2,)),
        (Layout.per_block(0, 4), (0, 3), (0, 3)),
    ],
)
def test_shapes_of_scales(layout, shape, expected):
    assert layout.scale_shape(shape) == expected


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        (Layout.per_axis(2), (3, 4)),
        (Layout.per_axis(-3), (3, 4)),
        (Layout.per_axis(0), ()),
        (Layout.per_block(1, 4), (3,)),
    ],
)
def test_an_axis_that_is_not_there(layout, shape):
    with pytest.raises(InputError, match=f"no axis {layout.axis} in a tensor"):
        layout.scale_shape(shape)


def test_impossible_layouts():
    with pytest.raises(InputError, match="blocks need an axis"):
        Layout(None, 4)
    with pytest.raises(InputError, match="block size 0"):
        Layout.per_block(0, 0)


def index_of_scale(layout, shape):
    """For each element the flat index of its scale, written down from the definition."""
    found = np.zeros(shape, np.int64)
    for index in np.ndindex(shape):
        if layout.axis is None:
            continue
        axis = layout.axis % len(shape)
        if layout.block_size is None:
            found[index] = index[axis]
            continue
        of_scale = list(index)
        of_scale[axis] //= layout.block_size
        found[index] = np.ravel_multi_index(of_scale, layout.scale_shape(shape))
    return found


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_each_element_meets_its_scale_once(layout, monkeypatch):
    expected = index_of_scale(layout, SHAPE)
    scales = np.arange(np.prod(layout.scale_shape(SHAPE), dtype=int))
    scales = scales.reshape(layout.scale_shape(SHAPE))
    for size in (1, 2, 3, 7, 1000):
        monkeypatch.setattr("mpgraph.quant.formats.layout.CHUNK_ELEMENTS", size)
        found, visits = np.full(SHAPE, -1), np.zeros(SHAPE, int)
        for (of_found, of_visits), (scale,) in chunks(layout, (found, visits), (scales,)):
            assert of_found.size <= size
            of_found[...] = scale
            of_visits += 1
        assert np.array_equal(found, expected)
        assert (visits == 1).all()


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_spread_scales_broadcast(layout):
    shape = layout.scale_shape(SHAPE)
    scales = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    spread = np.broadcast_to(layout.spread(scales, SHAPE), SHAPE)
    assert np.array_equal(spread, index_of_scale(layout, SHAPE))


@pytest.mark.parametrize("layout", [Layout(), Layout(0), Layout(1), Layout(0, 32), Layout(1, 32)])
def test_chunks_are_about_as_large_as_they_may_be(layout):
    array = np.empty((512, 8192), np.int8)
    count = sum(1 for _ in chunks(layout, (array,), ()))
    assert count <= 2 * array.size // CHUNK_ELEMENTS
