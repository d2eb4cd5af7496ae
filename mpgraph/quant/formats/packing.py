"""Several small integers per byte, low bits first, as ONNX stores them."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from mpgraph.errors import InputError
from mpgraph.quant.formats.format import Format
from mpgraph.quant.formats.layout import CHUNK_ELEMENTS, Array

__all__ = ["as_codes", "pack", "pack_last_axis", "unpack"]

_BITS = {"int2": 2, "uint2": 2, "int4": 4, "uint4": 4}


def pack(array: Array) -> NDArray[np.uint8]:
    """The bytes of a 2- or 4-bit tensor as ONNX has them: row-major, low bits first.

    Args:
        array: int2, uint2, int4 or uint4 of ml_dtypes, of any shape.

    Returns:
        One axis of ceil(size * bits / 8) bytes, which is what `ir.PackedTensor` takes; the last one
        is filled up with 0.

    Raises:
        InputError: The array has another dtype.
    """
    bits = _bits_of(str(array.dtype))
    values = array.reshape(-1).view(np.uint8)
    packed = np.empty(-(-values.size * bits // 8), np.uint8)
    for start in range(0, values.size, CHUNK_ELEMENTS):
        codes = values[start : start + CHUNK_ELEMENTS] & np.uint8((1 << bits) - 1)
        first = start * bits // 8
        part = pack_last_axis(codes, bits)
        packed[first : first + part.size] = part
    return packed


def unpack(packed: NDArray[np.uint8], dtype: str, shape: tuple[int, ...]) -> Array:
    """The tensor whose bytes `pack` returned.

    Args:
        packed: ceil(size * bits / 8) bytes.
        dtype: `int2`, `uint2`, `int4` or `uint4`.
        shape: Shape of the tensor.

    Raises:
        InputError: Another dtype was asked for, or the number of bytes does not fit the shape.
    """
    bits, size = _bits_of(dtype), prod(shape)
    if packed.size != -(-size * bits // 8):
        raise InputError("packed tensor", f"{packed.size} bytes do not hold {size} of {dtype}")
    codes = np.empty((packed.size, 8 // bits), np.uint8)
    for place in range(8 // bits):
        codes[:, place] = (packed.reshape(-1) >> (place * bits)) & ((1 << bits) - 1)
    whole = codes.reshape(-1)[:size]
    if dtype.startswith("int"):
        half = np.uint8(1 << (bits - 1))
        whole = (whole ^ half) - half
    numbers = whole.view(np.int8).astype(Format(dtype, symmetric=True).numpy_dtype)
    return numbers.reshape(shape)


def pack_last_axis(codes: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Codes below 2^bits, packed along the last axis, each row filled up with 0 by itself.

    Args:
        codes: uint8, any number of axes.
        bits: 2, 4 or 8.

    Returns:
        uint8 with the last axis shortened to ceil(length * bits / 8).
    """
    per_byte = 8 // bits
    if per_byte == 1:
        return codes
    length = -(-codes.shape[-1] // per_byte)
    packed = np.zeros((*codes.shape[:-1], length), np.uint8)
    for place in range(per_byte):
        part = codes[..., place::per_byte]
        packed[..., : part.shape[-1]] |= part << np.uint8(place * bits)
    return packed


def as_codes(array: Array, format: Format) -> NDArray[np.uint8]:
    """Integers as unsigned codes of the format's full width: signed ones are moved up by half.

    Args:
        array: Values or zero points of `format`, which has at most 8 bits.
        format: Their format.
    """
    bits = format.ir_dtype.bitwidth
    codes = np.ascontiguousarray(array).view(np.uint8) & np.uint8((1 << bits) - 1)
    return codes ^ np.uint8(1 << (bits - 1)) if format.is_signed else codes


def _bits_of(dtype: str) -> int:
    bits = _BITS.get(dtype)
    if bits is None:
        raise InputError("packed tensor", f"{dtype} is not packed", f"accepted: {', '.join(_BITS)}")
    return bits
