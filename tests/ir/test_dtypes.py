"""Names, limits and types."""

from __future__ import annotations

import numpy as np
import onnx.defs
import pytest

from mpgraph import ir
from mpgraph.ir.rounding import rounded

REAL = [dtype for dtype in ir.DataType if dtype != ir.DataType.UNDEFINED]


@pytest.mark.parametrize("dtype", REAL)
def test_names_round_trip(dtype):
    assert ir.parse_dtype(ir.dtype_name(dtype)) == dtype
    assert ir.from_type_string(ir.type_string(dtype)) == dtype


def test_type_strings_are_those_of_the_schemas():
    allowed = {
        text
        for schema in onnx.defs.get_all_schemas_with_history()
        for constraint in schema.type_constraints
        for text in constraint.allowed_type_strs
        if text.startswith("tensor(")
    }
    assert allowed <= {ir.type_string(dtype) for dtype in REAL}


def test_names_are_those_of_numpy():
    assert ir.dtype_name(ir.DataType.FLOAT) == "float32"
    assert ir.dtype_name(ir.DataType.DOUBLE) == "float64"
    assert ir.parse_dtype("float8_e4m3fn") == ir.parse_dtype("float8e4m3fn")
    with pytest.raises(ValueError, match="half"):
        ir.parse_dtype("half")
    with pytest.raises(ValueError, match="seq"):
        ir.from_type_string("seq(tensor(float))")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_limits_agree_with_numpy(dtype):
    known, info = ir.limits(ir.DataType.from_numpy(np.dtype(dtype))), np.finfo(dtype)
    assert (known.max, known.smallest_normal) == (float(info.max), float(info.smallest_normal))
    assert known.smallest_subnormal == float(info.smallest_subnormal)
    assert known.epsilon == float(info.eps)


def test_limits_of_the_short_types():
    assert ir.limits(ir.DataType.FLOAT8E4M3FN).max == 448
    assert ir.limits(ir.DataType.BFLOAT16).smallest_normal == 2.0**-126
    with pytest.raises(ValueError, match="int8"):
        ir.limits(ir.DataType.INT8)


def test_element_dtype_looks_through_sequences_and_optionals():
    tensor = ir.TensorType(ir.DataType.FLOAT, denotation="IMAGE")
    nested = ir.OptionalType(ir.SequenceType(tensor))
    assert ir.element_dtype(nested) == ir.DataType.FLOAT
    changed = ir.with_element_dtype(nested, ir.DataType.FLOAT16)
    assert repr(changed) == "Optional(Sequence(Tensor(FLOAT16)))"
    assert changed.elem_type.elem_type.denotation == "IMAGE"
    assert ir.element_dtype(nested) == ir.DataType.FLOAT
    assert ir.element_dtype(None) is None
    assert ir.element_dtype(ir.TensorType(ir.DataType.UNDEFINED)) is None
    assert ir.with_element_dtype(None, ir.DataType.INT8) == ir.TensorType(ir.DataType.INT8)


@pytest.mark.parametrize("dtype", [ir.DataType.FLOAT16, ir.DataType.BFLOAT16])
@pytest.mark.parametrize("size", [0, 7, (1 << 18) + 5])
def test_rounding_matches_astype_in_range(dtype, size):
    array = np.random.default_rng(0).standard_normal(size).astype(np.float32)
    np.testing.assert_array_equal(rounded(array, dtype), array.astype(dtype.numpy()))


def test_rounding_saturates_finite_numbers_only():
    array = np.array([[3e38, -3e38, np.inf], [-np.inf, np.nan, 65519.0]], np.float32)
    result = rounded(array.T, ir.DataType.FLOAT16)
    wanted = np.array([[65504, -65504, np.inf], [-np.inf, np.nan, 65504]], np.float16)
    np.testing.assert_array_equal(result, wanted.T)
    assert rounded(np.float32(3).reshape(()), ir.DataType.FLOAT16).shape == ()
