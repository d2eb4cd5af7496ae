"""Quantized and dequantized tensors are those of onnxruntime and of ONNX's reference, bit for bit."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from mpgraph.errors import InputError
from mpgraph.quant.formats import CHUNK_ELEMENTS, Format, Layout, Parameters, dequantize, quantize
from tests.quant.formats.cases import (
    FLOATS,
    INTEGERS,
    LAYOUTS,
    SHAPE,
    plain_format,
    random_parameters,
    same_bits,
    values_with_ties,
)
from tests.quant.formats.oracles import (
    dequantized_by_onnxruntime,
    dequantized_by_reference,
    quantized_by_onnxruntime,
    quantized_by_reference,
)

EVERY_BIT_PATTERN_OF_FLOAT16 = np.arange(1 << 16).astype(np.uint16).view(np.float16)
EXTREMES = np.array(
    [0.0, -0.0, np.inf, -np.inf, 3.4028235e38, -3.4028235e38, 1e-45, 1.1754944e-38], np.float32
)


def scalar_parameters(scale, zero, format):
    zero = np.asarray(zero, np.int32).astype(format.numpy_dtype)
    return Parameters(np.asarray(scale, np.float32), zero, Layout(), format)


def zeros_of(format):
    return (0,) if format.is_float else sorted({format.lowest, format.middle, format.highest})


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("name", INTEGERS + FLOATS)
def test_as_onnxruntime(name, layout, dtype):
    random = np.random.default_rng(1)
    for powers_of_two in (True, False):
        parameters = random_parameters(
            plain_format(name), layout, SHAPE, random, powers_of_two=powers_of_two
        )
        array = values_with_ties(parameters, SHAPE, random).astype(dtype)
        found = quantize(array, parameters, precision=dtype)
        assert same_bits(found, quantized_by_onnxruntime(array, parameters))
        real = dequantize(found, parameters, dtype)
        assert same_bits(real, dequantized_by_onnxruntime(found, parameters, dtype))


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("name", INTEGERS + FLOATS)
def test_as_the_reference(name, layout):
    random = np.random.default_rng(2)
    parameters = random_parameters(plain_format(name), layout, SHAPE, random)
    array = values_with_ties(parameters, SHAPE, random).astype(np.float32)
    found = quantize(array, parameters)
    assert same_bits(found, quantized_by_reference(array, parameters))
    assert same_bits(dequantize(found, parameters), dequantized_by_reference(found, parameters))


@pytest.mark.parametrize("name", INTEGERS + FLOATS)
def test_every_float16(name):
    numbers = EVERY_BIT_PATTERN_OF_FLOAT16
    array, format = numbers[~np.isnan(numbers)], plain_format(name)
    for scale in np.array([0.1, 0.013, 3e-5, 6e-8, 65504], np.float16):
        parameters = scalar_parameters(scale, zeros_of(format)[-1], format)
        found = quantize(array, parameters, precision=np.float16)
        assert same_bits(found, quantized_by_onnxruntime(array, parameters))
        real = dequantize(found, parameters, np.float16)
        assert same_bits(real, dequantized_by_onnxruntime(found, parameters, "float16"))


@pytest.mark.parametrize("scale", [1 / 3, 0.02, 7e-6, 3e38, 1.17549435e-38, 1e-40, 1e-45])
@pytest.mark.parametrize("name", INTEGERS + FLOATS)
def test_any_float32_and_subnormal_scales(name, scale):
    random = np.random.default_rng(3)
    patterns = random.integers(0, 1 << 32, 20_000, np.uint64).astype(np.uint32).view(np.float32)
    normal = np.clip(random.normal(size=20_000) * 40 * scale, -3e38, 3e38).astype(np.float32)
    array = np.concatenate([patterns[~np.isnan(patterns)], normal, EXTREMES])
    format = plain_format(name)
    for zero in zeros_of(format):
        parameters = scalar_parameters(scale, zero, format)
        found = quantize(array, parameters)
        assert same_bits(found, quantized_by_onnxruntime(array, parameters))
        real = dequantize(found, parameters)
        assert same_bits(real, dequantized_by_onnxruntime(found, parameters, "float32"))


def test_ties_go_to_even_and_ends_saturate():
    parameters = scalar_parameters(0.5, 0, Format("int8", symmetric=True))
    array = np.array([0.25, 0.75, 1.25, -0.25, -0.75, 63.75, 64.0, -64.25, -1e30], np.float32)
    assert quantize(array, parameters).tolist() == [0, 2, 2, 0, -2, 127, 127, -128, -128]


def test_a_quotient_is_not_a_product_with_the_inverse():
    parameters = scalar_parameters(7, 0, Format("int16", symmetric=True))
    array = (np.arange(-10_000, 10_000, dtype=np.float32) + np.float32(0.5)) * np.float32(7)
    inverse = np.rint(array * (np.float32(1) / np.float32(7)))
    found = quantize(array, parameters)
    assert not np.array_equal(found, inverse)
    assert same_bits(found, quantized_by_onnxruntime(array, parameters))


def test_fewer_bits_and_narrow_formats_saturate_where_they_end():
    array = np.array([-1000, -64, -63, 63, 64, 1000], np.float32)
    seven = scalar_parameters(1, 0, Format("int8", symmetric=True, bits=7))
    assert quantize(array, seven).tolist() == [-64, -64, -63, 63, 63, 63]
    narrow = scalar_parameters(1, 0, Format("int8", symmetric=True, narrow=True))
    assert quantize(array, narrow).tolist() == [-127, -64, -63, 63, 64, 127]
    two = scalar_parameters(1, 0, Format("uint4", symmetric=False, bits=2))
    assert quantize(array, two).tolist() == [0, 0, 0, 3, 3, 3]


@pytest.mark.parametrize("dtype", [np.float64, ml_dtypes.bfloat16])
def test_other_floats_are_taken_as_float32(dtype):
    random = np.random.default_rng(4)
    parameters = random_parameters(plain_format("uint8"), Layout.per_axis(1), SHAPE, random)
    array = random.normal(size=SHAPE).astype(dtype)
    assert same_bits(quantize(array, parameters), quantize(array.astype(np.float32), parameters))
    values = quantize(array, parameters)
    real = dequantize(values, parameters, dtype)
    assert same_bits(real, dequantize(values, parameters).astype(dtype))


def test_biases_dequantize_as_in_onnxruntime():
    random = np.random.default_rng(5)
    values = random.integers(-(2**31), 2**31, 1000).astype(np.int32)
    parameters = scalar_parameters(1e-7, 0, Format("int32", symmetric=True))
    expected = dequantized_by_onnxruntime(values, parameters, "float32")
    assert same_bits(dequantize(values, parameters), expected)


@pytest.mark.parametrize("layout", [Layout(), Layout(0), Layout(1), Layout(1, 3000)], ids=str)
def test_chunks_do_not_show(layout):
    shape = (7, CHUNK_ELEMENTS // 16 + 1, 3)
    random = np.random.default_rng(6)
    parameters = random_parameters(plain_format("uint8"), layout, shape, random)
    array = random.normal(size=shape).astype(np.float32) * 20
    scale = layout.spread(parameters.scale, shape)
    zero = layout.spread(parameters.zero_point.astype(np.float32), shape)
    expected = np.clip(np.rint(array / scale) + zero, 0, 255).astype(np.uint8)
    found = quantize(array, parameters)
    assert same_bits(found, expected)
    assert same_bits(dequantize(found, parameters), (expected.astype(np.float32) - zero) * scale)


@pytest.mark.parametrize("order", [(2, 0, 1), (0, 2, 1)])
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_strides_do_not_show(layout, order):
    random = np.random.default_rng(7)
    array = random.normal(size=SHAPE).astype(np.float32).transpose(order)[:, ::-1]
    parameters = random_parameters(plain_format("uint4"), layout, array.shape, random)
    found = quantize(array, parameters)
    assert same_bits(found, quantize(np.ascontiguousarray(array), parameters))


@pytest.mark.parametrize("name", INTEGERS + FLOATS)
def test_scalars_and_empty_tensors(name):
    format = plain_format(name)
    parameters = scalar_parameters(0.5, format.middle, format)
    found = quantize(np.array(0.5, np.float32), parameters)
    assert found.shape == ()
    assert float(found) == format.middle + 1
    assert float(dequantize(found, parameters)) == 0.5
    assert quantize(np.zeros((0, 3), np.float32), parameters).shape == (0, 3)
    assert dequantize(np.zeros((2, 0), format.numpy_dtype), parameters).shape == (2, 0)
    axis = Layout.per_axis(0)
    none = Parameters(np.ones(0, np.float32), np.zeros(0, format.numpy_dtype), axis, format)
    assert quantize(np.zeros((0, 3), np.float32), none).dtype == format.numpy_dtype


def test_nan_is_refused_by_name_and_count():
    array = np.array([1.0, np.nan, np.nan, np.inf], np.float32)
    parameters = scalar_parameters(1, 0, Format("int8", symmetric=True))
    with pytest.raises(InputError, match="tensor 'w': 2 NaN and 1 infinities among 4 values"):
        quantize(array, parameters, name="w")


@pytest.mark.parametrize(
    ("array", "format", "text"),
    [
        (np.zeros(3, np.int64), Format("int8", symmetric=True), "it is int64"),
        (np.zeros(3, np.float32), Format("int32", symmetric=True), "quantize_bias"),
    ],
)
def test_what_is_no_float_or_a_bias_is_refused(array, format, text):
    with pytest.raises(InputError, match=text):
        quantize(array, scalar_parameters(1, 0, format), name="w")


def test_scales_of_another_shape_are_refused():
    format = Format("int8", symmetric=True)
    parameters = Parameters(
        np.ones(4, np.float32), np.zeros(4, np.int8), Layout.per_axis(1), format
    )
    with pytest.raises(InputError, match=r"tensor 'w': its scales have shape \[4\], not \[3\]"):
        quantize(np.zeros((2, 3), np.float32), parameters, name="w")
    with pytest.raises(InputError, match="no axis 1"):
        quantize(np.zeros(3, np.float32), parameters, name="w")
    with pytest.raises(InputError, match="it is uint8, not int8"):
        dequantize(np.zeros((2, 4), np.uint8), parameters)
