"""What is allocated beside the result does not grow with the tensor."""

from __future__ import annotations

import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest

from mpgraph.quant.formats import (
    Format,
    Layout,
    dequantize,
    matmul_nbits,
    mse_parameters,
    pack,
    parameters_from_range,
    quantize,
    range_of,
)

MIB = 1 << 20
ROWS, COLUMNS = 4096, 4096
SIZE = ROWS * COLUMNS
TEMPORARY = 8 * MIB


@pytest.fixture(scope="module")
def tensor():
    """64 MiB of float32."""
    row = np.random.default_rng(1).normal(size=COLUMNS).astype(np.float32)
    return np.tile(row, (ROWS, 1))


@contextmanager
def peak_below(limit):
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] <= limit
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("layout", [Layout(), Layout(0), Layout(1), Layout(0, 64)], ids=str)
@pytest.mark.parametrize("name", ["int8", "uint4", "float8e4m3fn"])
def test_ranges_and_values(tensor, layout, name):
    format = Format(name, symmetric=True)
    scales = int(np.prod(layout.scale_shape(tensor.shape)))
    with peak_below(TEMPORARY + 16 * scales):
        low, high = range_of(tensor, layout)
    parameters = parameters_from_range(low, high, format, layout)
    with peak_below(SIZE + TEMPORARY):
        values = quantize(tensor, parameters)
    if format.is_packed:
        with peak_below(SIZE // 2 + TEMPORARY):
            pack(values)


def test_dequantized_values(tensor):
    parameters = parameters_from_range(-4.0, 4.0, Format("int8", True), Layout())
    values = np.ones(tensor.shape, np.int8)
    with peak_below(2 * SIZE + TEMPORARY):
        dequantize(values, parameters, np.float16)


def test_clipping(tensor):
    with peak_below(TEMPORARY):
        mse_parameters(tensor, Format("int8", True), Layout(1), candidates=(0.8, 0.6))


def test_packed_columns(tensor):
    layout = Layout.per_block(0, 64)
    parameters = parameters_from_range(*range_of(tensor, layout), Format("uint4", False), layout)
    values = quantize(tensor, parameters)
    blocks = parameters.scale.size
    with peak_below(SIZE // 2 + 8 * blocks + TEMPORARY):
        matmul_nbits(values, parameters)
