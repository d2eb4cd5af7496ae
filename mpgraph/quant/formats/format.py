"""Formats: the integers and float8 numbers that a quantized tensor may hold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mpgraph import ir
from mpgraph.errors import InputError

__all__ = ["Format"]

_WIDTHS = {
    **{"int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "int8": 8, "uint8": 8},
    **{"int16": 16, "uint16": 16, "int32": 32},
    **{"float8e4m3fn": 8, "float8e5m2": 8},
}


@dataclass(frozen=True)
class Format:
    """What a quantized tensor may hold: a dtype, how much of it is used, and its zero point.

    Attributes:
        dtype: `int2`, `uint2`, `int4`, `uint4`, `int8`, `uint8`, `int16`, `uint16`, `float8e4m3fn`,
            `float8e5m2`, or `int32`, which is for biases.
        symmetric: Whether the zero point is fixed: 0, or half the range for an unsigned dtype.
        narrow: Whether a symmetric format leaves its lowest integer unused, so that int8 holds
            -127..127.
        bits: How many bits of the dtype are used, such as 7 of int8 for -64..63; all unless given.

    Raises:
        InputError: The dtype is none of those, or the others contradict it.
    """

    dtype: str
    symmetric: bool
    narrow: bool = False
    bits: int | None = None

    def __post_init__(self) -> None:
        width = _WIDTHS.get(self.dtype)
        if width is None:
            raise self._wrong("dtype", f"accepted: {', '.join(_WIDTHS)}")
        if self.bits is None:
            object.__setattr__(self, "bits", width)
        elif not (self.bits == width or (2 <= self.bits < width and not self.is_float)):
            raise self._wrong("bits", f"{self.dtype} has {width} bits")
        if not self.symmetric and (self.is_float or self.dtype == "int32"):
            raise self._wrong("symmetric", f"{self.dtype} has no zero point")
        if self.narrow and (self.is_float or not self.symmetric):
            raise self._wrong("narrow", "only symmetric integers leave one out")

    @property
    def is_float(self) -> bool:
        """Whether the dtype is a float8."""
        return self.dtype.startswith("float")

    @property
    def is_signed(self) -> bool:
        """Whether the dtype holds negative numbers."""
        return not self.dtype.startswith("u")

    @property
    def is_packed(self) -> bool:
        """Whether several values share a byte in a model."""
        return _WIDTHS[self.dtype] < 8

    @property
    def ir_dtype(self) -> ir.DataType:
        """The dtype of the tensor in a model."""
        return ir.parse_dtype(self.dtype)

    @cached_property
    def numpy_dtype(self) -> np.dtype[np.generic]:
        """The dtype of arrays of the values and of the zero points; small ones are ml_dtypes'."""
        return np.dtype(self.ir_dtype.numpy())

    @cached_property
    def middle(self) -> float:
        """The zero point of the symmetric format: 0, or 2^(bits - 1) for an unsigned dtype."""
        return 0 if self.is_signed else 1 << (self._bits - 1)

    @cached_property
    def highest(self) -> float:
        """The greatest value; a whole number, for float8 the largest finite one."""
        if self.is_float:
            return ir.limits(self.ir_dtype).max
        return (1 << (self._bits - self.is_signed)) - 1

    @cached_property
    def lowest(self) -> float:
        """The least value."""
        if self.is_float:
            return -self.highest
        least = -(1 << (self._bits - 1)) if self.is_signed else 0
        return least + self.narrow

    @property
    def _bits(self) -> int:
        return self.bits or _WIDTHS[self.dtype]

    def _wrong(self, name: str, hint: str) -> InputError:
        rule = f"{name} = {getattr(self, name)!r} is not possible"
        return InputError(f"quantization format {self.dtype!r}", rule, hint)
