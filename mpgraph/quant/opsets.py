"""The opset from which on a quantization mode can be written."""

from __future__ import annotations

from mpgraph.policy import QuantizationMode

__all__ = ["required_opset"]

_PER_AXIS, _FLOAT8, _LOW_FLOATS, _BLOCKS = 13, 19, 19, 21


def required_opset(mode: QuantizationMode, compute_dtype: str = "float32") -> int:
    """The first opset whose QuantizeLinear and DequantizeLinear have what a mode needs.

    13 has scales per axis, 19 float8 and float scales of 16 bits, 21 blocks and integers of 4 and
    16 bits.

    Args:
        mode: The mode.
        compute_dtype: The float dtype of what is quantized.
    """
    dtypes = {mode.weight_dtype, mode.activation_dtype}
    if mode.weight_granularity == "block" or dtypes & {"int4", "uint4", "int16", "uint16"}:
        return _BLOCKS
    if mode.weight_dtype.startswith("float"):
        return _FLOAT8
    return _PER_AXIS if compute_dtype == "float32" else _LOW_FLOATS
