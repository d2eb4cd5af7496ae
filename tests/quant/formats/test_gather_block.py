"""Tables of GatherBlockQuantized give in onnxruntime the rows of the dequantized table."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.errors import InputError
from mpgraph.quant.formats import (
    Format,
    Layout,
    dequantize,
    gather_block_quantized,
    parameters_from_range,
    quantize,
    range_of,
)
from tests.quant.formats.oracles import open_session, operator_model
from tests.quant.formats.test_nbits import FORMATS

ROWS = np.array([[0, 2], [4, 4]], np.int64)


def quantized_table(shape, format, layout):
    table = np.random.default_rng(1).normal(size=shape).astype(np.float32) + np.float32(0.3)
    parameters = parameters_from_range(*range_of(table, layout), format, layout)
    return quantize(table, parameters), parameters


def gathered_by_onnxruntime(weight):
    attributes = {
        "bits": weight.bits,
        "block_size": weight.block_size,
        "gather_axis": 0,
        "quantize_axis": weight.quantize_axis,
    }
    constants = {"data": weight.values, "rows": ROWS, "scale": weight.scale}
    if weight.zero_point is not None:
        constants["zero"] = weight.zero_point
    model = operator_model(
        "GatherBlockQuantized", "com.microsoft", attributes, constants, ir.DataType.FLOAT
    )
    return open_session(model).run(None, {})[0]


@pytest.mark.parametrize(
    ("shape", "layout"),
    [
        ((5, 32), Layout(1, 16)),
        ((5, 40), Layout(-1, 16)),
        ((5, 44), Layout(1, 32)),
        ((5, 3, 32), Layout(2, 16)),
    ],
)
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_as_the_dequantized_rows(format, shape, layout):
    values, parameters = quantized_table(shape, format, layout)
    found = gathered_by_onnxruntime(gather_block_quantized(values, parameters))
    expected = dequantize(values, parameters)[ROWS]
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("format", [Format("int4", False), Format("uint8", True)], ids=str)
def test_rows_of_odd_length(format):
    values, parameters = quantized_table((5, 41), format, Layout(1, 16))
    found = gathered_by_onnxruntime(gather_block_quantized(values, parameters))
    assert np.array_equal(found, dequantize(values, parameters)[ROWS])


@pytest.mark.parametrize(
    ("format", "left_out"),
    [
        (Format("int4", True), True),
        (Format("uint4", True), False),
        (Format("int8", True), True),
        (Format("uint2", True), True),
        (Format("uint8", False), False),
    ],
    ids=str,
)
def test_the_usual_zero_point_is_left_out(format, left_out):
    weight = gather_block_quantized(*quantized_table((5, 32), format, Layout(1, 16)))
    assert (weight.zero_point is None) == left_out


@pytest.mark.parametrize(
    ("shape", "format", "layout", "text"),
    [
        ((32, 32), "int8", Layout(0, 16), "blocks of an axis from 1 up"),
        ((32, 32), "int8", Layout(-2, 16), "blocks of an axis from 1 up"),
        ((32, 32), "int8", Layout(1), "blocks of an axis from 1 up"),
        ((32, 32), "int8", Layout(1, 12), "block size 12 is not taken"),
        ((32, 33), "int2", Layout(1, 16), "33 elements of 2 bits do not fill"),
        ((32, 32), "int16", Layout(1, 16), "int16 is not taken"),
    ],
)
def test_what_is_refused(shape, format, layout, text):
    values, parameters = quantized_table(shape, Format(format, True), layout)
    with pytest.raises(InputError, match=text):
        gather_block_quantized(values, parameters)
