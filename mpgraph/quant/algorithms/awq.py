"""AWQ: input channels with large activations are rounded more finely.

Lin, Tang, Tang, Yang, Chen, Wang, Xiao, Dang, Gan and Han, "AWQ: Activation-aware Weight
Quantization for LLM Compression and Acceleration", 2023 (arXiv 2306.00978), section 3.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mpgraph.quant.algorithms.rounding import Rounded, output_error, round_to_nearest
from mpgraph.quant.formats import Format
from mpgraph.quant.formats.layout import Array

__all__ = ["awq"]

_GRID = 20
_LARGEST = 1e4


def awq(
    weight: Array, moments: NDArray[np.float32], format: Format, block_size: int | None
) -> Rounded:
    """Round a weight whose input channels are first multiplied by powers of their activations.

    Factors are m^a, with m the root mean square of a channel's activations, brought to a geometric
    middle of 1; of 20 exponents a from 0 to 0.95 the one is taken whose products are off by least,
    which is never worse than rounding to the nearest (a = 0).

    Args:
        weight: Float [inputs, outputs].
        moments: Second moments of the activations [inputs, inputs], the sum of x x^T.
        format: An integer format.
        block_size: Inputs per scale; None for one scale per output.
    """
    given = np.asarray(weight, np.float32)
    best = round_to_nearest(given, format, block_size)
    least = output_error(given, best.real(), moments)
    size = np.sqrt(np.maximum(np.diagonal(moments).astype(np.float64), 0))
    size[size == 0] = size[size > 0].min(initial=1.0)
    for exponent in np.arange(1, _GRID) / _GRID:
        factors = size**exponent
        factors /= np.sqrt(factors.max() * factors.min())
        factors = np.clip(factors, 1 / _LARGEST, _LARGEST).astype(np.float32)
        plain = round_to_nearest(given * factors[:, None], format, block_size)
        rounded = Rounded(plain.values, plain.parameters, factors)
        error = output_error(given, rounded.real(), moments)
        if error < least:
            best, least = rounded, error
    return best
