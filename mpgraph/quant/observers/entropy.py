"""The range that keeps most of the information in the distribution of the elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mpgraph.quant.observers.from_histogram import FromHistogram
from mpgraph.quant.observers.histogram import HALF, Bins

__all__ = ["Entropy"]

_CANDIDATES = 96
# Where nearly everything saturates into one bin, a single bin describes it without any loss.
_MOST_SATURATED = 0.1
_Counts = np.ndarray[Any, np.dtype[np.float64]]


@dataclass
class Entropy(FromHistogram):
    """The threshold of least Kullback-Leibler divergence between elements and quantized elements.

    After S. Migacz, "8-bit Inference with TensorRT", GPU Technology Conference 2017: elements
    beyond a threshold saturate, those within are spread over the levels; over all thresholds the
    divergence of the two distributions is least. Here over 4,096 bins of magnitudes, and over
    thresholds beyond which a tenth of the elements lies at most.
    """

    def find(
        self, bins: Bins, low: float, high: float, levels: int, symmetric: bool
    ) -> tuple[float, float]:
        """The range [-threshold, threshold], cut to where there are elements."""
        magnitudes = (bins.counts[HALF:] + bins.counts[HALF - 1 :: -1]).astype(np.float64)
        one_sided = not symmetric and (low >= 0 or high <= 0)
        limit = best_threshold(magnitudes, levels if one_sided else levels // 2) * bins.width
        return -limit, limit


def best_threshold(magnitudes: _Counts, levels: int) -> int:
    """The number of bins, counted from zero, that a range of so many levels should cover.

    Args:
        magnitudes: Counts of evenly spaced bins of magnitudes.
        levels: Levels between zero and the threshold.
    """
    used = int(np.flatnonzero(magnitudes)[-1]) + 1
    # Zeros are represented exactly at every threshold, and would outweigh everything else.
    shape = magnitudes[:used].copy()
    shape[0] = shape[1] if used > 1 else shape[0]
    if used <= levels or not shape.any():
        return used
    kept = np.cumsum(shape)
    least = int(np.searchsorted(kept, (1 - _MOST_SATURATED) * kept[-1])) + 1
    # From the largest down, because the first of equal losses is taken.
    ends = np.unique(np.linspace(used, max(levels, least), _CANDIDATES).astype(int))[::-1]
    losses = [_divergence(shape, int(end), levels) for end in ends]
    return int(ends[int(np.argmin(losses))])


def _divergence(shape: _Counts, end: int, levels: int) -> float:
    inside = shape[:end]
    saturated = inside.copy()
    saturated[-1] += shape[end:].sum()
    starts = np.arange(levels) * end // levels
    filled = inside > 0
    sizes = np.add.reduceat(filled.astype(np.float64), starts)
    sums = np.add.reduceat(inside, starts)
    means = np.divide(sums, sizes, out=np.zeros_like(sums), where=sizes > 0)
    spread = np.repeat(means, np.diff(np.append(starts, end))) * filled
    total, kept = saturated.sum(), spread.sum()
    if kept == 0:
        return np.inf
    # Where everything in the last bin saturates, a little more than nothing is expected there.
    expected = np.maximum(spread / kept, 1e-12)
    observed = saturated / total
    some = observed > 0
    return float(np.sum(observed[some] * np.log(observed[some] / expected[some])))
