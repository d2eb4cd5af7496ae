"""Scales and zero points from ranges: the formulas, the ends of float32, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph.errors import InputError
from mpgraph.quant.formats import (
    SMALLEST_SCALE,
    Format,
    Layout,
    Parameters,
    dequantize,
    parameters_from_range,
    quantize,
)
from tests.quant.formats.cases import FLOATS, INTEGERS

LARGEST = float(np.finfo(np.float32).max)
FORMATS = (
    *(Format(name, symmetric) for name in INTEGERS for symmetric in (True, False)),
    *(Format(name, True) for name in FLOATS),
    Format("int8", True, narrow=True),
    Format("int8", True, bits=7),
    Format("uint8", False, bits=3),
)
RANGES = np.array(
    [
        *[(0, 0), (-1, 1), (0, 5), (-5, 0), (2, 6), (-6, -2), (-0.3, 700), (-1e-3, 1e-3)],
        *[(-1e-40, 1e-40), (0, 1e-45), (-1e-45, 0), (-1e-38, 1e30)],
        *[(-LARGEST, LARGEST), (0, LARGEST), (-LARGEST, 0), (-LARGEST, 1)],
    ]
)


def of_range(low, high, format, **options):
    return parameters_from_range(low, high, format, Layout(), **options)


@pytest.mark.parametrize(
    ("low", "high", "format", "scale", "zero"),
    [
        (-1.0, 3.0, Format("uint8", False), 4 / 255, 64),
        (-1.0, 3.0, Format("int8", False), 4 / 255, -64),
        (1.0, 3.0, Format("uint8", False), 3 / 255, 0),
        (-3.0, -1.0, Format("uint8", False), 3 / 255, 255),
        (-1.0, 3.0, Format("uint16", False), 4 / 65535, 16384),
        (-2.0, 13.0, Format("uint4", False), 1.0, 2),
        (-2.0, 13.0, Format("int4", False), 1.0, -6),
        (-2.5, 12.5, Format("uint4", False), 1.0, 2),
        (-3.5, 11.5, Format("uint4", False), 1.0, 4),
        (-1.0, 3.0, Format("int8", True), 3 / 127, 0),
        (-4.0, 3.0, Format("int8", True, narrow=True), 4 / 127, 0),
        (-4.0, 3.0, Format("int8", True, bits=7), 4 / 63, 0),
        (-4.0, 3.0, Format("uint8", True), 4 / 127, 128),
        (-4.0, 3.0, Format("int4", True), 4 / 7, 0),
        (-4.0, 3.0, Format("float8e4m3fn", True), 4 / 448, 0),
        (-4.0, 3.0, Format("float8e5m2", True), 4 / 57344, 0),
        (0.0, 0.0, Format("uint8", False), 1.0, 0),
        (0.0, 0.0, Format("int8", True), 1.0, 0),
        (0.0, 0.0, Format("float8e4m3fn", True), 1.0, 0),
    ],
)
def test_formulas(low, high, format, scale, zero):
    parameters = of_range(low, high, format)
    assert parameters.scale == np.float32(scale)
    assert parameters.scale.dtype == np.float32
    assert int(parameters.zero_point) == zero
    assert parameters.zero_point.dtype == format.numpy_dtype


@pytest.mark.parametrize(
    ("low", "high", "format", "scale"),
    [
        (0.0, 0.0, Format("uint8", False), 1e-4 / 255),
        (-1e-6, 0.0, Format("uint8", False), 1e-4 / 255),
        (-1e-6, 1e-6, Format("int8", True, narrow=True), 1e-4 / 254),
        (-1.0, 1.0, Format("uint8", False), 2 / 255),
    ],
)
def test_a_minimum_range(low, high, format, scale):
    parameters = of_range(low, high, format, minimum_range=1e-4)
    assert parameters.scale == pytest.approx(scale, rel=1e-6)


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_scales_are_normal_and_every_value_is_finite(format):
    low, high = RANGES.T
    parameters = parameters_from_range(low, high, format, Layout.per_axis(0))
    assert (parameters.scale >= SMALLEST_SCALE).all()
    assert np.isfinite(parameters.scale).all()
    for end in (format.lowest, format.highest):
        values = np.full(low.shape, end, np.int32).astype(format.numpy_dtype)
        assert np.isfinite(dequantize(values, parameters)).all()


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_zero_is_exact_and_the_ends_are_near(format):
    low, high = RANGES.T
    layout = Layout.per_axis(0)
    parameters = parameters_from_range(low, high, format, layout)
    zeros = np.zeros(low.shape, np.float32)
    assert (dequantize(quantize(zeros, parameters), parameters) == 0).all()
    scale = parameters.scale.astype(np.float64)
    for end in (low, high):
        rounded = quantize(end.astype(np.float32), parameters)
        error = np.abs(dequantize(rounded, parameters).astype(np.float64) - end)
        near = np.maximum(np.abs(end) / 8, scale) if format.is_float else scale / 2
        # A range that ends with float32 itself is cut by a part of a step.
        near = np.where(np.maximum(-low, high) < LARGEST, near, 2 * scale)
        assert (error <= near + np.abs(end) * 2.0**-20).all()


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.0, np.inf, r"range of 'act': 0.0..inf is not finite"),
        (np.nan, 1.0, r"nan..1.0 is not finite"),
        (np.array([0.0, -np.inf]), np.array([1.0, 2.0]), "-inf..2.0 is not finite"),
        (2.0, 1.0, "2.0 is above 1.0"),
        (np.zeros(2), np.zeros(3), r"shapes \[2\] and \[3\]"),
    ],
)
def test_ranges_that_are_refused(low, high, text):
    with pytest.raises(InputError, match=text):
        of_range(low, high, Format("uint8", False), name="act")


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf])
def test_scales_that_are_refused(scale):
    array = np.array([1, scale], np.float32)
    with pytest.raises(InputError, match=f"scale {np.float32(scale)} is not a positive number"):
        Parameters(array, np.zeros(2, np.int8), Layout.per_axis(0), Format("int8", True))


@pytest.mark.parametrize(
    ("scale", "zero", "format", "text"),
    [
        (np.ones(2), np.zeros(2, np.int8), "int8", "the scale is float64"),
        (np.ones(2, np.float32), np.zeros(2, np.uint8), "int8", "zero point is uint8"),
        (np.ones(2, np.float32), np.zeros(3, np.int8), "int8", "differ in shape"),
        (np.ones(2, np.float32), np.ones(2, np.int32), "int32", "int32 has no zero point"),
    ],
)
def test_parameters_that_do_not_agree(scale, zero, format, text):
    with pytest.raises(InputError, match=text):
        Parameters(scale, zero, Layout.per_axis(0), Format(format, True))
