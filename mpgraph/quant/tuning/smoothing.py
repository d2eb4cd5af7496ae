"""Factors that take outliers out of an activation and put them into the weights that read it.

After G. Xiao et al., SmoothQuant: Accurate and Efficient Post-Training Quantization for Large
Language Models, 2022: channel j of the activation is divided by
s_j = max|X_j|^alpha / max|W_j|^(1 - alpha), row j of the weights multiplied by it. All factors are
powers of two, so that float results stay the same bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mpgraph.quant.formats.layout import Array
from mpgraph.quant.tuning.rows import Rows

__all__ = ["smoothing_factors"]

_FURTHEST = 12
"""Largest exponent of a factor: far from what overflows or vanishes in float32."""

_LEAST = 1e-6


def smoothing_factors(
    rows: Rows, matrices: Sequence[Array], alphas: Sequence[float], bits: int
) -> Array:
    """The factors, float32[channels], that a noise model expects to serve all products best.

    The model: rounding adds noise of a twelfth of a squared step to each number; that of the
    activation passes through the weights, that of the weights is weighted by the activation's
    second moments. Rows count the same, as in ``row_error``.

    Args:
        rows: Rows of the activation.
        matrices: The weights that read it, float32[channels, outputs].
        alphas: Exponents to try.
        bits: Bits of the weights that are used.

    Returns:
        Factors to divide the activation by; all 1 where none of the exponents helps.
    """
    low, high = rows.low.min(axis=0), rows.high.max(axis=0)
    largest = np.maximum(np.maximum(-low, high), _LEAST).astype(np.float64)
    heaviest = np.max([np.abs(matrix).max(axis=1) for matrix in matrices], axis=0)
    heaviest = np.maximum(heaviest.astype(np.float64), _LEAST)
    weighed = [_Weighed(rows, matrix, bits) for matrix in matrices]

    def noise(factors: Array) -> float:
        step = (max(float((high / factors).max()), 0) - min(float((low / factors).min()), 0)) / 255
        return sum(one.noise(factors, step) for one in weighed)

    best = np.ones(largest.shape)
    least = noise(best)
    for alpha in alphas:
        factors = _power_of_two(largest**alpha / heaviest ** (1 - alpha))
        found = noise(factors)
        if found < least:
            best, least = factors, found
    return best.astype(np.float32)


class _Weighed:
    """The noise of one product."""

    def __init__(self, rows: Rows, matrix: Array, bits: int) -> None:
        energy = np.square(rows.values @ matrix, dtype=np.float64).sum(axis=1)
        kept = energy > 0
        inverse = 1 / energy[kept]
        count = max(int(kept.sum()), 1)
        self._magnitudes = np.abs(matrix)
        self._highest = 2 ** (bits - 1) - 1
        self._squares = np.square(matrix, dtype=np.float64).sum(axis=1)
        self._inverse = float(inverse.sum()) / count
        moments = np.square(rows.values[kept], dtype=np.float64)
        self._moments = (moments * inverse[:, np.newaxis]).sum(axis=0) / count

    def noise(self, factors: Array, step: float) -> float:
        """The expected ``row_error`` when the activation is divided by factors.

        Args:
            factors: float64[channels].
            step: The step of the activation then.
        """
        column = factors.astype(np.float32)[:, np.newaxis]
        steps = (self._magnitudes * column).max(axis=0) / self._highest
        through = step**2 * float((factors**2 * self._squares).sum()) * self._inverse
        weights = float(np.square(steps, dtype=np.float64).sum())
        return (through + weights * float((self._moments / factors**2).sum())) / 12


def _power_of_two(factors: Array) -> Array:
    """The nearest powers of two, with a geometric mean about 1."""
    exponents = np.log2(factors)
    exponents = np.rint(exponents - exponents.mean())
    return np.asarray(np.exp2(np.clip(exponents, -_FURTHEST, _FURTHEST)))
