"""Weights of MatMulNBits compute in onnxruntime what the dequantized matrix does."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.errors import InputError
from mpgraph.quant.formats import (
    CHUNK_ELEMENTS,
    Format,
    Layout,
    Parameters,
    dequantize,
    matmul_nbits,
    parameters_from_range,
    quantize,
    range_of,
    unpack,
)
from tests.quant.formats.oracles import open_session, operator_model

FORMATS = (
    *(Format(name, False) for name in ("uint2", "int2", "uint4", "int4", "uint8", "int8")),
    *(Format(name, True) for name in ("uint2", "uint4", "int4", "uint8", "int8")),
    Format("uint4", False, bits=3),
)


def quantized_matrix(rows, columns, format, size):
    random = np.random.default_rng(1)
    matrix = random.normal(size=(rows, columns)).astype(np.float32) + np.float32(0.3)
    layout = Layout.per_block(0, size)
    parameters = parameters_from_range(*range_of(matrix, layout), format, layout)
    return quantize(matrix, parameters), parameters


def multiplied_by_onnxruntime(inputs, weight, accuracy_level):
    attributes = {
        "K": weight.rows,
        "N": weight.columns,
        "bits": weight.bits,
        "block_size": weight.block_size,
        "accuracy_level": accuracy_level,
    }
    constants = {"b": weight.packed, "scale": weight.scale}
    if weight.zero_point is not None:
        constants["zero"] = weight.zero_point
    model = operator_model(
        "MatMulNBits",
        "com.microsoft",
        attributes,
        constants,
        ir.DataType.FLOAT,
        fed=[("a", inputs.shape)],
    )
    return open_session(model).run(None, {"a": inputs})[0]


@pytest.mark.parametrize("accuracy_level", [0, 1])
@pytest.mark.parametrize(("rows", "size"), [(64, 16), (64, 64), (40, 16), (17, 32), (100, 32)])
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_as_the_float_product(format, rows, size, accuracy_level):
    values, parameters = quantized_matrix(rows, 5, format, size)
    weight = matmul_nbits(values, parameters)
    inputs = np.random.default_rng(2).normal(size=(3, rows)).astype(np.float32)
    found = multiplied_by_onnxruntime(inputs, weight, accuracy_level)
    expected = inputs @ dequantize(values, parameters)
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_rows_of_the_identity_give_the_dequantized_weight(format):
    values, parameters = quantized_matrix(40, 7, format, 16)
    found = multiplied_by_onnxruntime(
        np.eye(40, dtype=np.float32), matmul_nbits(values, parameters), 0
    )
    assert found == pytest.approx(dequantize(values, parameters), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("format", [f for f in FORMATS if f.symmetric], ids=str)
def test_the_usual_zero_point_is_left_out(format):
    assert matmul_nbits(*quantized_matrix(40, 7, format, 16)).zero_point is None


def test_shapes():
    weight = matmul_nbits(*quantized_matrix(40, 7, Format("uint4", False), 16))
    assert weight.packed.shape == (7, 3, 8)
    assert weight.scale.shape == (7, 3)
    assert weight.zero_point.shape == (7, 2)
    assert (weight.rows, weight.columns, weight.bits, weight.block_size) == (40, 7, 4, 16)


def test_what_fills_a_block_up_stands_for_zero():
    values, parameters = quantized_matrix(40, 7, Format("uint4", False), 16)
    weight = matmul_nbits(values, parameters)
    codes = unpack(weight.packed, "uint4", (7, 48)).astype(int)
    assert np.array_equal(codes[:, :40], values.T.astype(int))
    last = parameters.zero_point[-1].astype(int)
    assert np.array_equal(codes[:, 40:], np.repeat(last[:, None], 8, axis=1))


def test_columns_are_packed_alike_in_any_portion():
    rows, columns = 1000, CHUNK_ELEMENTS // 1000 + 10
    values, parameters = quantized_matrix(rows, columns, Format("uint4", False), 32)
    weight = matmul_nbits(values, parameters)
    last = Parameters(
        parameters.scale[:, -3:],
        parameters.zero_point[:, -3:],
        parameters.layout,
        parameters.format,
    )
    assert np.array_equal(weight.packed[-3:], matmul_nbits(values[:, -3:], last).packed)


@pytest.mark.parametrize(
    ("shape", "format", "layout", "text"),
    [
        ((32, 3), "int8", Layout(0), "blocks of axis 0"),
        ((32, 32), "int8", Layout(1, 16), "blocks of axis 0"),
        ((32, 3), "int8", Layout(0, 8), "block size 8 is not taken"),
        ((96, 3), "int8", Layout(0, 48), "block size 48 is not taken"),
        ((2, 32, 3), "int8", Layout(0, 16), "3 axes, not 2"),
        ((32, 3), "int16", Layout(0, 16), "int16 is not taken"),
        ((32, 3), "float8e4m3fn", Layout(0, 16), "float8e4m3fn is not taken"),
    ],
)
def test_what_is_refused(shape, format, layout, text):
    matrix = np.ones(shape, np.float32)
    plain = Format(format, True)
    parameters = parameters_from_range(*range_of(matrix, layout), plain, layout)
    with pytest.raises(InputError, match=text):
        matmul_nbits(quantize(matrix, parameters), parameters)
