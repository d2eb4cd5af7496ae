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
# Losses this close differ by rounding alone.
_EQUAL = 1e-9
_LEAST = 1e-12
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
    losses = divergences(shape, ends, levels)
    return int(ends[int(np.argmax(losses <= losses.min() + _EQUAL))])


def divergences(shape: _Counts, ends: np.ndarray[Any, Any], levels: int) -> _Counts:
    """The Kullback-Leibler divergence, in nats, that each of several thresholds leaves.

    Bins within a threshold are spread over the levels, each level over those of its bins that hold
    something; the last one also holds what saturates.

    Args:
        shape: Counts of evenly spaced bins of magnitudes.
        ends: int[n]: how many bins each threshold covers, at least one for each level.
        levels: Levels between zero and the threshold.
    """
    # Sums over ranges of bins are differences of these, exact for counts below 2^53.
    below = _before(shape)
    filled = _before((shape > 0).astype(np.float64))
    information = _before(_times_log(shape))
    edges = np.arange(levels + 1) * ends[:, None] // levels
    sums, sizes = np.diff(below[edges]), np.diff(filled[edges])
    inside, total = below[ends], below[-1]
    saturated, last = total - inside, shape[ends - 1]
    held = np.where(inside > 0, inside, 1.0)
    means = np.divide(sums, sizes, out=np.zeros_like(sums), where=sizes > 0)
    # Where everything in the last bin saturates, a little more than nothing is expected there.
    expected = np.log(np.maximum(means / held[:, None], _LEAST))
    expected_last = np.where(last > 0, expected[:, -1], np.log(_LEAST))
    observed = information[ends] - _times_log(last) + _times_log(last + saturated)
    crossed = np.sum(sums * expected, axis=1) + saturated * expected_last
    losses = (observed - crossed) / total - np.log(total)
    return np.where(inside > 0, losses, np.inf)


def _before(values: _Counts) -> _Counts:
    """The sum of all that come before each, and of all."""
    return np.concatenate(([0.0], np.cumsum(values)))


def _times_log(counts: _Counts) -> _Counts:
    return counts * np.log(np.maximum(counts, 1.0))
