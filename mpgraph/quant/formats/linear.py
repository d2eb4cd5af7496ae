"""QuantizeLinear and DequantizeLinear, bit for bit as onnxruntime computes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from mpgraph.errors import InputError
from mpgraph.quant.formats.format import Format
from mpgraph.quant.formats.layout import CHUNK_ELEMENTS, Array, chunks
from mpgraph.quant.formats.parameters import Parameters
from mpgraph.quant.formats.ranges import check_float, check_numbers

__all__ = ["dequantize", "quantize", "round_quotients"]


def quantize(
    array: Array, parameters: Parameters, *, precision: DTypeLike = np.float32, name: str = ""
) -> Array:
    """Values in a format: round(x / scale) + zero point, half to even, saturated.

    A division, and never a product with the inverse, which would round twice; infinities saturate.
    Works in chunks, so that nothing but the result grows with the tensor.

    Args:
        array: float16, bfloat16, float32, or float64, which is rounded to float32 first.
        parameters: Scales and zero points, in the shape that their layout gives for the array.
        precision: Float dtype of x / scale, the attribute of that name of QuantizeLinear. That
            operator takes the dtype of its scale unless told: one that gets float16 scales gives
            what float16 gives here. Weights are best left at float32.
        name: The tensor that an error speaks of.

    Returns:
        An array of the shape of `array` and the dtype of the format.

    Raises:
        InputError: The array holds NaN, is no float array, or has another shape than the scales ask
            for; or the format is int32.
    """
    check_float(array, name)
    parameters.check_shape(array.shape, name)
    format = parameters.format
    if format.dtype == "int32":
        raise InputError(f"tensor {name!r}", "only a bias is int32", "use quantize_bias")
    result = np.empty(array.shape, format.numpy_dtype)
    buffer = np.empty(min(CHUNK_ELEMENTS, array.size), np.float32)
    scales = (parameters.scale, parameters.zero_point)
    with np.errstate(over="ignore"):
        for (part, values), (scale, zero) in chunks(parameters.layout, (array, result), scales):
            steps = buffer[: part.size].reshape(part.shape)
            steps[...] = part
            if np.isnan(steps).any():
                check_numbers(array, name, infinities=False)
            np.divide(steps, scale, out=steps)
            if np.dtype(precision) != np.float32:
                # The quotient of two floats of at most 11 bits is not rounded twice by this.
                steps[...] = steps.astype(precision)
            round_quotients(steps, zero.astype(np.float32), format)
            _store(steps, values, format)
    return result


def round_quotients(quotients: Array, zero_point: Array, format: Format) -> None:
    """Replace x / scale in place by what a format holds of it, still as float32.

    Args:
        quotients: float32.
        zero_point: float32 that broadcasts against `quotients`.
        format: Integers of at most 16 bits, which float32 holds exactly, or float8; a float8 value
            is only clipped here, as the cast to it rounds.
    """
    if not format.is_float:
        np.rint(quotients, out=quotients)
        np.add(quotients, zero_point, out=quotients)
    np.clip(quotients, format.lowest, format.highest, out=quotients)


def dequantize(array: Array, parameters: Parameters, dtype: DTypeLike = np.float32) -> Array:
    """Real values: (x - zero point) * scale, computed in float32 and rounded to `dtype`.

    Args:
        array: Values in the dtype of the format.
        parameters: Scales and zero points, in the shape that their layout gives for the array.
        dtype: Float dtype of the result.

    Raises:
        InputError: The array has another dtype than the format, or another shape than the scales
            ask for.
    """
    if array.dtype != parameters.format.numpy_dtype:
        rule = f"it is {array.dtype}, not {parameters.format.dtype}"
        raise InputError("quantized tensor", rule)
    parameters.check_shape(array.shape, "")
    result = np.empty(array.shape, dtype)
    buffer = np.empty(min(CHUNK_ELEMENTS, array.size), np.float32)
    scales = (parameters.scale, parameters.zero_point)
    with np.errstate(over="ignore"):
        for (part, values), (scale, zero) in chunks(parameters.layout, (array, result), scales):
            real = buffer[: part.size].reshape(part.shape)
            real[...] = part
            np.subtract(real, zero.astype(np.float32), out=real)
            values[...] = np.multiply(real, scale, out=real)
    return result


def _store(steps: Array, values: Array, format: Format) -> None:
    # ml_dtypes casts to its small integers from int8 a hundred times faster than from floats.
    values[...] = steps.astype(np.int8) if format.is_packed else steps
