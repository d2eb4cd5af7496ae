"""The opset from which on a quantization mode can be written."""

from __future__ import annotations

from mpgraph.policy import QuantizationMode

__all__ = ["required_opset"]

_PER_AXIS, _FLOAT8, _BLOCKS = 13, 19, 21


def required_opset(mode: QuantizationMode) -> int:
    """The first opset whose QuantizeLinear and DequantizeLinear have what a mode needs.

    13 has scales per axis, 19 float8, 21 blocks and 4 and 16 bits.
    """
    dtypes = {mode.weight_dtype, mode.activation_dtype}
    if mode.weight_granularity == "block" or dtypes & {"int4", "uint4", "int16", "uint16"}:
        return _BLOCKS
    return _FLOAT8 if mode.weight_dtype.startswith("float") else _PER_AXIS
