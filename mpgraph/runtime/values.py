"""Arrays to and from onnxruntime's own values, for the dtypes that numpy lacks."""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np

from mpgraph import ir
from mpgraph.errors import VerificationError
from mpgraph.runtime.ort import onnxruntime

__all__ = ["from_ort_value", "is_bfloat16", "to_ort_value"]

_BFLOAT16 = int(ir.DataType.BFLOAT16)


def is_bfloat16(value: object) -> bool:
    """Whether a value of a feed is an array of ``ml_dtypes.bfloat16``."""
    return isinstance(value, np.ndarray) and value.dtype == ml_dtypes.bfloat16


def to_ort_value(value: Any) -> Any:
    """An ``OrtValue`` with the elements of an array.

    Raises:
        VerificationError: The value is a sequence.
    """
    ort_value = onnxruntime().OrtValue
    if isinstance(value, ort_value):
        return value
    if isinstance(value, list):
        raise VerificationError(
            "session", "a sequence input beside bfloat16 inputs or outputs cannot be fed"
        )
    # Not ascontiguousarray, which gives a scalar an axis.
    array = np.asarray(value, order="C")
    if array.dtype == ml_dtypes.bfloat16:
        return ort_value.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), _BFLOAT16)
    return ort_value.ortvalue_from_numpy(array)


def from_ort_value(value: Any) -> Any:
    """The array in an ``OrtValue`` in CPU memory; None for an empty optional.

    Raises:
        VerificationError: The value is a sequence.
    """
    if not value.has_value():
        return None
    if not value.is_tensor():
        raise VerificationError(
            "session", "a sequence output beside bfloat16 inputs or outputs cannot be read"
        )
    if value.data_type() != "tensor(bfloat16)":
        return value.numpy()
    shape = tuple(value.shape())
    count = int(np.prod(shape, dtype=np.int64))
    if count == 0:
        return np.zeros(shape, ml_dtypes.bfloat16)
    # numpy() refuses bfloat16, so the bytes are copied from where onnxruntime keeps them.
    words = (ctypes.c_uint16 * count).from_address(value.data_ptr())
    copied = np.ctypeslib.as_array(words).copy()
    return copied.view(ml_dtypes.bfloat16).reshape(shape)
