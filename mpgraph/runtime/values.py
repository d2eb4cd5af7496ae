"""Arrays to and from onnxruntime's own values, for the dtypes that numpy lacks."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from mpgraph import ir
from mpgraph.errors import VerificationError
from mpgraph.runtime.float8 import FLOAT8
from mpgraph.runtime.ort import onnxruntime

__all__ = ["from_ort_value", "is_foreign", "is_foreign_type", "to_ort_value"]

_FOREIGN = FLOAT8 | {ir.DataType.BFLOAT16}
_BY_NUMPY: Mapping[np.dtype[Any], ir.DataType] = {
    np.dtype(dtype.numpy()): dtype for dtype in _FOREIGN
}
_BY_TYPE: Mapping[str, ir.DataType] = {ir.type_string(dtype): dtype for dtype in _FOREIGN}


def is_foreign(value: object) -> bool:
    """Whether a value of a feed is an array of bfloat16 or float8, in the types of ml_dtypes."""
    return isinstance(value, np.ndarray) and value.dtype in _BY_NUMPY


def is_foreign_type(type_string: str) -> bool:
    """Whether bfloat16 or float8 is in a type, as onnxruntime writes it."""
    return any(foreign in type_string for foreign in _BY_TYPE)


def to_ort_value(value: Any) -> Any:
    """An ``OrtValue`` with the elements of an array; those of foreign dtypes bit for bit.

    Raises:
        VerificationError: The value is a sequence.
    """
    ort_value = onnxruntime().OrtValue
    if isinstance(value, ort_value):
        return value
    if isinstance(value, list):
        raise VerificationError(
            "session", "a sequence input beside bfloat16 or float8 inputs or outputs cannot be fed"
        )
    # Not ascontiguousarray, which gives a scalar an axis.
    array = np.asarray(value, order="C")
    dtype = _BY_NUMPY.get(array.dtype)
    if dtype is None:
        return ort_value.ortvalue_from_numpy(array)
    bits = array.view(f"u{array.itemsize}")
    return ort_value.ortvalue_from_numpy_with_onnx_type(bits, int(dtype))


def from_ort_value(value: Any) -> Any:
    """The array in an ``OrtValue`` in CPU memory; None for an empty optional.

    Raises:
        VerificationError: The value is a sequence.
    """
    if not value.has_value():
        return None
    if not value.is_tensor():
        raise VerificationError(
            "session",
            "a sequence output beside bfloat16 or float8 inputs or outputs cannot be read",
        )
    dtype = _BY_TYPE.get(value.data_type())
    if dtype is None:
        return value.numpy()
    kind = np.dtype(dtype.numpy())
    shape = tuple(value.shape())
    count = int(np.prod(shape, dtype=np.int64))
    if count == 0:
        return np.zeros(shape, kind)
    # numpy() refuses these dtypes, so the bytes are copied from where onnxruntime keeps them.
    content = (ctypes.c_uint8 * (count * kind.itemsize)).from_address(value.data_ptr())
    return np.ctypeslib.as_array(content).copy().view(kind).reshape(shape)
