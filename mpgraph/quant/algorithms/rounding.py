"""A rounded weight, the plain way to round one, and the error that rounding makes in products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpgraph.quant.formats import (
    Format,
    Layout,
    Parameters,
    dequantize,
    parameters_from_range,
    quantize,
    range_of,
)
from mpgraph.quant.formats.layout import Array

__all__ = ["Rounded", "layout_of", "output_error", "round_to_nearest"]


@dataclass(frozen=True, eq=False)
class Rounded:
    """A weight [inputs, outputs] in a quantized format.

    Attributes:
        values: The quantized numbers, in the dtype of the format.
        parameters: Their scales and zero points.
        factors: What each input channel of the weight was multiplied with before it was rounded,
            float32 [inputs]; the activations are to be divided by it. None without factors.
    """

    values: Array
    parameters: Parameters
    factors: NDArray[np.float32] | None = None

    def real(self) -> NDArray[np.float32]:
        """What the weight stands for, with the factors taken out again."""
        real = dequantize(self.values, self.parameters)
        if self.factors is not None:
            real /= self.factors[:, None]
        return np.asarray(real, np.float32)


def layout_of(block_size: int | None) -> Layout:
    """Scales of a weight [inputs, outputs]: per block of inputs, or per output without blocks."""
    return Layout.per_axis(1) if block_size is None else Layout.per_block(0, block_size)


def round_to_nearest(weight: Array, format: Format, block_size: int | None) -> Rounded:
    """Round each element to the nearest number of the format.

    Args:
        weight: Float [inputs, outputs].
        format: The format.
        block_size: Inputs per scale; None for one scale per output.
    """
    layout = layout_of(block_size)
    low, high = range_of(weight, layout)
    parameters = parameters_from_range(low, high, format, layout)
    return Rounded(quantize(weight, parameters), parameters)


def output_error(weight: Array, real: Array, moments: NDArray[np.float32]) -> float:
    """The squared error of a product, summed over samples and outputs.

    With the second moments M = sum over samples of x x^T of the activations, it is the trace of
    E^T M E for the error E of the weight.

    Args:
        weight: The weight [inputs, outputs].
        real: What stands for it.
        moments: Second moments of the activations [inputs, inputs].
    """
    error = np.asarray(real, np.float32) - np.asarray(weight, np.float32)
    return float(np.einsum("ij,ij->", moments @ error, error, dtype=np.float64))
