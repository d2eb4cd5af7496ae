"""The range that holds a given share of the elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mpgraph.quant.observers.from_histogram import FromHistogram
from mpgraph.quant.observers.histogram import HALF, Bins

__all__ = ["Percentile"]


@dataclass
class Percentile(FromHistogram):
    """As much is cut off below as above; of a symmetric range, by magnitude.

    Attributes:
        percentile: Share of the elements that the range holds, in percent.
    """

    percentile: float = 99.99

    def parameters(self) -> dict[str, Any]:
        """What the constructor takes besides the state."""
        return {"percentile": self.percentile}

    def find(
        self, bins: Bins, low: float, high: float, levels: int, symmetric: bool
    ) -> tuple[float, float]:
        """The range, to the width of a bin, at most 1/2048 of the largest magnitude."""
        if self.percentile == 100:
            return low, high
        outside = 1 - self.percentile / 100
        if symmetric:
            magnitudes = bins.counts[HALF:] + bins.counts[HALF - 1 :: -1]
            limit = _last_edge(magnitudes, outside) * bins.width
            return -limit, limit
        above = _last_edge(bins.counts, outside / 2) - HALF
        below = HALF - _last_edge(bins.counts[::-1], outside / 2)
        return below * bins.width, above * bins.width


def _last_edge(counts: np.ndarray[Any, Any], outside: float) -> int:
    """The first edge beyond which at most a share of the counts lies."""
    beyond = np.cumsum(counts[::-1])[::-1]
    # A share such as 0.0005 of 20,000 elements is 10 of them, whatever its last bits say.
    allowed = outside * float(beyond[0]) * (1 + 1e-9)
    return int(np.count_nonzero(beyond > allowed))
