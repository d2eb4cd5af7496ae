"""Formats: what they hold, and which are refused."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from mpgraph.errors import InputError
from mpgraph.quant.formats import Format
from tests.quant.formats.cases import FLOATS, INTEGERS, plain_format


@pytest.mark.parametrize("name", INTEGERS)
def test_an_integer_format_holds_its_dtype(name):
    format = plain_format(name)
    info = ml_dtypes.iinfo(format.numpy_dtype)
    assert (format.lowest, format.highest) == (info.min, info.max)
    assert format.numpy_dtype.name == name
    assert not format.is_float


@pytest.mark.parametrize("name", FLOATS)
def test_a_float8_format_holds_its_dtype(name):
    format = plain_format(name)
    info = ml_dtypes.finfo(format.numpy_dtype)
    assert (format.lowest, format.highest) == (float(info.min), float(info.max))
    assert format.is_float
    assert format.middle == 0


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        (Format("int8", True), (-128, 0, 127)),
        (Format("int8", True, narrow=True), (-127, 0, 127)),
        (Format("int8", True, bits=7), (-64, 0, 63)),
        (Format("int8", True, narrow=True, bits=7), (-63, 0, 63)),
        (Format("uint8", True), (0, 128, 255)),
        (Format("uint8", True, narrow=True), (1, 128, 255)),
        (Format("uint8", False, bits=7), (0, 64, 127)),
        (Format("uint4", False, bits=2), (0, 2, 3)),
        (Format("int4", True), (-8, 0, 7)),
        (Format("int32", True), (-(2**31), 0, 2**31 - 1)),
    ],
)
def test_lowest_middle_highest(format, expected):
    assert (format.lowest, format.middle, format.highest) == expected


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"dtype": "int64", "symmetric": True}, "dtype = 'int64'.*accepted: int2"),
        ({"dtype": "float16", "symmetric": True}, "dtype = 'float16'"),
        ({"dtype": "float8e5m2", "symmetric": False}, "has no zero point"),
        ({"dtype": "int32", "symmetric": False}, "has no zero point"),
        ({"dtype": "int8", "symmetric": False, "narrow": True}, "narrow = True"),
        ({"dtype": "float8e5m2", "symmetric": True, "narrow": True}, "narrow = True"),
        ({"dtype": "int8", "symmetric": True, "bits": 9}, "int8 has 8 bits"),
        ({"dtype": "int8", "symmetric": True, "bits": 1}, "int8 has 8 bits"),
        ({"dtype": "float8e4m3fn", "symmetric": True, "bits": 7}, "has 8 bits"),
    ],
)
def test_impossible_formats(arguments, text):
    with pytest.raises(InputError, match=text):
        Format(**arguments)


def test_all_bits_may_be_spelled_out():
    assert Format("int8", True, bits=8) == Format("int8", True)
    assert np.dtype(Format("uint2", False).numpy_dtype) == ml_dtypes.uint2
