"""Data types: names, schema strings, numeric limits, and types that are never edited in place.

`value.dtype = x` of onnx-ir changes a type object that other values, also of a clone, may share.
Everything here builds a new type instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import ml_dtypes
import onnx_ir
from onnx_ir import DataType

__all__ = [
    "FLOATS",
    "FloatLimits",
    "dtype_name",
    "element_dtype",
    "from_type_string",
    "limits",
    "parse_dtype",
    "type_string",
    "with_element_dtype",
]

FLOATS: frozenset[DataType] = frozenset(
    {DataType.FLOAT, DataType.FLOAT16, DataType.BFLOAT16, DataType.DOUBLE}
)

_NAMES: dict[DataType, str] = {
    dtype: {DataType.FLOAT: "float32", DataType.DOUBLE: "float64"}.get(dtype, dtype.name.lower())
    for dtype in DataType
    if dtype != DataType.UNDEFINED
}
_TYPE_STRINGS: dict[DataType, str] = {
    dtype: f"tensor({dtype.name.lower()})" for dtype in DataType if dtype != DataType.UNDEFINED
}
_BY_TYPE_STRING = {text: dtype for dtype, text in _TYPE_STRINGS.items()}
# ml_dtypes writes float8_e4m3fn where ONNX writes float8e4m3fn; both are read.
_BY_NAME = {name.replace("_", ""): dtype for dtype, name in _NAMES.items()}


@dataclass(frozen=True)
class FloatLimits:
    """What a floating-point type can hold; all values are positive and exact in float64.

    Attributes:
        max: Largest finite value.
        smallest_normal: Smallest normal value.
        smallest_subnormal: Smallest value above zero.
        epsilon: Distance from 1.0 to the next value.
    """

    max: float
    smallest_normal: float
    smallest_subnormal: float
    epsilon: float


@cache
def limits(dtype: DataType) -> FloatLimits:
    """Returns the limits of a floating-point type, float8 and smaller included.

    Raises:
        ValueError: `dtype` is not a floating-point type.
    """
    if not dtype.is_floating_point():
        raise ValueError(f"{dtype_name(dtype)} is not a floating-point type")
    info = ml_dtypes.finfo(dtype.numpy())  # type: ignore[no-untyped-call]
    return FloatLimits(
        max=float(info.max),
        smallest_normal=float(info.smallest_normal),
        smallest_subnormal=float(info.smallest_subnormal),
        epsilon=float(info.eps),
    )


def dtype_name(dtype: DataType) -> str:
    """Returns the numpy and Keras name: "float32" for FLOAT, "bool", "int64", "bfloat16"..."""
    return _NAMES.get(dtype, "undefined")


def parse_dtype(name: str) -> DataType:
    """Reads a name that `dtype_name` writes.

    Raises:
        ValueError: No data type has that name; the text lists those that exist.
    """
    dtype = _BY_NAME.get(name.replace("_", ""))
    if dtype is None:
        raise ValueError(f"unknown dtype {name!r}; known are {', '.join(_NAMES.values())}")
    return dtype


def type_string(dtype: DataType) -> str:
    """Returns the string that ONNX schemas use: "tensor(float)", "tensor(float16)"..."""
    return _TYPE_STRINGS.get(dtype, "tensor(undefined)")


def from_type_string(text: str) -> DataType:
    """Reads the string of a tensor type as ONNX schemas write it.

    Raises:
        ValueError: `text` is not the string of a tensor type.
    """
    dtype = _BY_TYPE_STRING.get(text)
    if dtype is None:
        raise ValueError(f"{text!r} is not a tensor type of an ONNX schema")
    return dtype


def element_dtype(type_: onnx_ir.TypeProtocol | None) -> DataType | None:
    """Returns the dtype of a tensor, or of the tensors in a sequence or optional at any depth.

    None when there is no type, or when it does not say its element type.
    """
    if type_ is None:
        return None
    dtype = type_.dtype
    return None if dtype == DataType.UNDEFINED else dtype


def with_element_dtype(type_: onnx_ir.TypeProtocol | None, dtype: DataType) -> onnx_ir.TypeProtocol:
    """Returns a new type of the same structure whose innermost element type is `dtype`.

    A missing type becomes a tensor type. The given type is never changed.
    """
    if type_ is None:
        return onnx_ir.TensorType(dtype)
    if isinstance(type_, onnx_ir.SequenceType | onnx_ir.OptionalType):
        inner = with_element_dtype(type_.elem_type, dtype)
        return type(type_)(inner, denotation=type_.denotation)
    if isinstance(type_, onnx_ir.SparseTensorType):
        return onnx_ir.SparseTensorType(dtype, denotation=type_.denotation)
    return onnx_ir.TensorType(dtype, denotation=type_.denotation)
