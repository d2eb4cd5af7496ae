"""Weights as onnxruntime's MatMulNBits takes them: transposed, block by block, packed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpgraph.errors import InputError
from mpgraph.quant.formats.layout import CHUNK_ELEMENTS, Array, Layout
from mpgraph.quant.formats.packing import as_codes, pack_last_axis
from mpgraph.quant.formats.parameters import Parameters

__all__ = ["NBitsWeight", "check_block_size", "in_blocks", "matmul_nbits"]

_BLOCK = 32
"""What onnxruntime takes where it makes blocks of a scale per column by itself."""


@dataclass(frozen=True, eq=False)
class NBitsWeight:
    """The operands and attributes of MatMulNBits for a weight of shape [K, N].

    Attributes:
        packed: uint8 [N, blocks, block_size * bits / 8]; what fills the last block of a column up
            stands for 0.
        scale: float32 [N, blocks].
        zero_point: uint8 [N, ceil(blocks * bits / 8)], or None where all are 2^(bits - 1), which is
            what the operator takes without one.
        rows: K, the input features.
        columns: N, the output features.
        bits: 2, 4 or 8.
        block_size: Elements of K per scale.
    """

    packed: NDArray[np.uint8]
    scale: NDArray[np.float32]
    zero_point: NDArray[np.uint8] | None
    rows: int
    columns: int
    bits: int
    block_size: int


def matmul_nbits(values: Array, parameters: Parameters) -> NBitsWeight:
    """Pack a weight for MatMulNBits.

    Signed values and their zero points move up by half the range, which changes no real value.
    Works on some columns at a time; what is allocated beside the result is bounded.

    Args:
        values: [K, N] in the dtype of the format, of 2, 4 or 8 bits.
        parameters: Scales and zero points per block of axis 0.

    Raises:
        InputError: The weight is no matrix, the layout has no blocks along axis 0, the block size
            is no power of two from 16 up, or the format is float8 or wider than 8 bits.
    """
    format, layout = parameters.format, parameters.layout
    where = "MatMulNBits weight"
    if values.ndim != 2:
        raise InputError(where, f"it has {values.ndim} axes, not 2")
    if layout.block_size is None or layout.axis not in (0, -2):
        raise InputError(where, "its scales do not belong to blocks of axis 0")
    if format.is_float or format.ir_dtype.bitwidth > 8:
        raise InputError(where, f"{format.dtype} is not taken", "give integers of 2, 4 or 8 bits")
    check_block_size(layout.block_size, where)
    parameters.check_shape(values.shape, where)
    bits, size = format.ir_dtype.bitwidth, layout.block_size
    zero = np.ascontiguousarray(as_codes(parameters.zero_point, format).T)
    packed = _packed_columns(values, zero, parameters, bits)
    default = bool((zero == 1 << (bits - 1)).all())
    return NBitsWeight(
        packed=packed,
        scale=np.ascontiguousarray(parameters.scale.T),
        zero_point=None if default else pack_last_axis(zero, bits),
        rows=values.shape[0],
        columns=values.shape[1],
        bits=bits,
        block_size=size,
    )


def in_blocks(parameters: Parameters, shape: Sequence[int]) -> Parameters:
    """Parameters per block of axis 0 of a matrix that say the same.

    A scale for the whole matrix, or for each column, is repeated for each block of 32 elements.

    Args:
        parameters: Scales and zero points per tensor, per index of axis 1, or per block already.
        shape: [K, N], the shape of the matrix.

    Raises:
        InputError: The scales belong to the rows.
    """
    layout = parameters.layout
    if layout.block_size is not None:
        return parameters
    if layout.axis not in (None, 1, -1):
        raise InputError("MatMulNBits weight", "its scales do not belong to columns")
    blocks = (-(-shape[0] // _BLOCK), shape[1])
    return Parameters(
        np.ascontiguousarray(np.broadcast_to(parameters.scale, blocks)),
        np.ascontiguousarray(np.broadcast_to(parameters.zero_point, blocks)),
        Layout.per_block(0, _BLOCK),
        parameters.format,
    )


def check_block_size(size: int, where: str) -> None:
    """Check that a block size is one that onnxruntime's block operators take.

    Raises:
        InputError: It is no power of two, or below 16.
    """
    if size < 16 or size & (size - 1):
        rule = f"block size {size} is not taken"
        raise InputError(where, rule, "give a power of two from 16 up")


def _packed_columns(
    values: Array, zero: NDArray[np.uint8], parameters: Parameters, bits: int
) -> NDArray[np.uint8]:
    (rows, columns), blocks = values.shape, zero.shape[1]
    size = parameters.layout.block_size or 1
    packed = np.empty((columns, blocks, size * bits // 8), np.uint8)
    step = max(1, CHUNK_ELEMENTS // max(1, blocks * size))
    for start in range(0, columns, step):
        part = slice(start, min(start + step, columns))
        codes = np.empty((part.stop - start, blocks * size), np.uint8)
        codes[:, :rows] = as_codes(values[:, part], parameters.format).T
        # The last block is filled up with its zero point, which stands for 0.
        codes[:, rows:] = zero[part, -1:]
        packed[part] = pack_last_axis(codes, bits).reshape(-1, blocks, size * bits // 8)
    return packed
