"""Scales that clip: the range per scale that gives the least squared error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mpgraph.errors import InputError
from mpgraph.quant.formats.format import Format
from mpgraph.quant.formats.layout import CHUNK_ELEMENTS, Array, Layout, chunks
from mpgraph.quant.formats.linear import round_quotients
from mpgraph.quant.formats.parameters import Parameters, parameters_from_range
from mpgraph.quant.formats.ranges import range_of

__all__ = ["SHRINKS", "mse_parameters", "squared_error"]

SHRINKS: tuple[float, ...] = tuple(1 - step / 40 for step in range(1, 25))
"""By what a range is multiplied: 0.975 down to 0.4."""

_WORTH = 1 - 1e-6
"""An error must fall at least this far, more than what rounding does to the sums."""


def mse_parameters(
    array: Array,
    format: Format,
    layout: Layout,
    *,
    candidates: Sequence[float] = SHRINKS,
    minimum_range: float | None = None,
    name: str = "",
) -> Parameters:
    """The scales and zero points, per scale, with the least sum of squared errors.

    Tried are the range from the least to the greatest value, and that range times each candidate;
    what lies outside is then saturated. The error of no scale is above that of the whole range.
    Works in chunks and reads `array` once per candidate.

    Args:
        array: float16, bfloat16, float32 or float64.
        format: What the quantized tensor is to hold.
        layout: Which elements share a scale.
        candidates: Factors above 0.
        minimum_range: As for `parameters_from_range`.
        name: The tensor that an error speaks of.

    Raises:
        InputError: A candidate is not above 0, or the tensor holds NaN or infinities, is no float
            tensor, or lacks the axis.
    """
    for factor in candidates:
        if not 0 < factor < float("inf"):
            raise InputError("candidates", f"{factor} is no factor of a range", "give some above 0")
    low, high = range_of(array, layout, name=name)

    def shrunk(factor: float) -> Parameters:
        ends = low * factor, high * factor
        return parameters_from_range(*ends, format, layout, minimum_range=minimum_range, name=name)

    best = shrunk(1.0)
    least = squared_error(array, best)
    for factor in candidates:
        tried = shrunk(factor)
        error = squared_error(array, tried)
        better = error < least * _WORTH
        least = np.where(better, error, least)
        scale = np.where(better, tried.scale, best.scale)
        zero_point = np.where(better, tried.zero_point, best.zero_point)
        best = Parameters(scale, zero_point, layout, format)
    return best


def squared_error(array: Array, parameters: Parameters) -> NDArray[np.float64]:
    """The sum, per scale, of (dequantized - x)^2.

    Args:
        array: float16, bfloat16, float32 or float64, of finite values.
        parameters: Scales and zero points in the shape that their layout gives for the array.
    """
    format = parameters.format
    total = np.zeros(parameters.scale.shape, np.float64)
    size = min(CHUNK_ELEMENTS, array.size)
    exact, rounded = np.empty(size, np.float32), np.empty(size, np.float32)
    scales = (parameters.scale, parameters.zero_point, total)
    with np.errstate(over="ignore", under="ignore"):
        for (part,), (scale, zero, sums) in chunks(parameters.layout, (array,), scales):
            values = exact[: part.size].reshape(part.shape)
            found = rounded[: part.size].reshape(part.shape)
            values[...] = part
            zero = zero.astype(np.float32)
            np.divide(values, scale, out=found)
            round_quotients(found, zero, format)
            if format.is_float:
                found[...] = found.astype(format.numpy_dtype)
            np.subtract(found, zero, out=found)
            np.multiply(found, scale, out=found)
            np.subtract(found, values, out=found)
            np.square(found, out=found)
            shared = tuple(axis for axis, length in enumerate(sums.shape) if length == 1)
            sums += found.sum(axis=shared, keepdims=True, dtype=np.float64)
    return total
