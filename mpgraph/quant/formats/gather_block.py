"""Tables as onnxruntime's GatherBlockQuantized takes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpgraph.errors import InputError
from mpgraph.quant.formats.layout import Array
from mpgraph.quant.formats.nbits import check_block_size
from mpgraph.quant.formats.packing import as_codes, pack_last_axis
from mpgraph.quant.formats.parameters import Parameters

__all__ = ["GatherBlockWeight", "gather_block_quantized"]


@dataclass(frozen=True, eq=False)
class GatherBlockWeight:
    """The operands and attributes of GatherBlockQuantized for a table gathered along axis 0.

    Attributes:
        values: int4 or uint4 in the shape of the table; else uint8, packed along the last axis.
        scale: float32 in the shape of the table with `quantize_axis` divided by the block size and
            rounded up.
        zero_point: The dtype of `values`, of the shape of `scale`, packed likewise; None where all
            are what the operator takes without one: 0 for int4 and uint4, else 2^(bits - 1).
        bits: 2, 4 or 8.
        block_size: Elements of `quantize_axis` per scale.
        quantize_axis: The axis of the blocks, from 1 up.
    """

    values: Array
    scale: NDArray[np.float32]
    zero_point: Array | None
    bits: int
    block_size: int
    quantize_axis: int


def gather_block_quantized(values: Array, parameters: Parameters) -> GatherBlockWeight:
    """Lay out a table for GatherBlockQuantized with gather axis 0.

    4-bit values stay as they are. Others become uint8; signed ones and their zero points move up by
    half the range, which changes no real value.

    Args:
        values: The table, of at least two axes, in the dtype of the format.
        parameters: Scales and zero points per block of another axis than 0.

    Raises:
        InputError: The layout has no blocks along an axis from 1 up, the block size is no power of
            two from 16 up, the format is float8 or wider than 8 bits, or a table of 2 bits has a
            last axis that does not fill its bytes.
    """
    format, layout = parameters.format, parameters.layout
    where = "GatherBlockQuantized table"
    parameters.check_shape(values.shape, where)
    if layout.block_size is None or layout.axis is None or layout.axis % values.ndim == 0:
        raise InputError(where, "its scales do not belong to blocks of an axis from 1 up")
    if format.is_float or format.ir_dtype.bitwidth > 8:
        raise InputError(where, f"{format.dtype} is not taken", "give integers of 2, 4 or 8 bits")
    check_block_size(layout.block_size, where)
    bits = format.ir_dtype.bitwidth
    axis = layout.axis % values.ndim
    zero: Array | None = parameters.zero_point
    if bits == 4:
        default = not parameters.zero_point.any()
    else:
        if values.shape[-1] * bits % 8:
            rule = f"{values.shape[-1]} elements of {bits} bits do not fill the bytes of a row"
            raise InputError(where, rule)
        codes = as_codes(parameters.zero_point, format)
        default = bool((codes == 1 << (bits - 1)).all())
        zero = pack_last_axis(codes, bits)
        values = pack_last_axis(as_codes(values, format), bits)
    return GatherBlockWeight(
        values=values,
        scale=parameters.scale,
        zero_point=None if default else zero,
        bits=bits,
        block_size=layout.block_size,
        quantize_axis=axis,
    )
