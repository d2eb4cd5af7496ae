"""The range with the least mean squared error of the quantized elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mpgraph.quant.observers.from_histogram import FromHistogram
from mpgraph.quant.observers.histogram import Bins

__all__ = ["SquaredError"]

_SHARES = np.linspace(1.0, 0.05, 58)


@dataclass
class SquaredError(FromHistogram):
    """Shrinks both ends together, then each alone, and keeps what loses least."""

    def find(
        self, bins: Bins, low: float, high: float, levels: int, symmetric: bool
    ) -> tuple[float, float]:
        """The range; rounding error and saturation are weighed on the middles of the bins."""
        filled = np.flatnonzero(bins.counts)
        values, weights = bins.centres[filled], bins.counts[filled].astype(np.float64)
        if symmetric:
            limit = max(-low, high)
            limits = [float(share * limit) for share in _SHARES]
            errors = [_error(values, weights, -each, each, levels - 1) for each in limits]
            best = limits[int(np.argmin(errors))]
            return -best, best
        # Zero is always one of the levels.
        low, high = min(low, 0.0), max(high, 0.0)
        below = above = 1.0
        for moves_below, moves_above in ((True, True), (True, False), (False, True)):
            trials = [
                (share if moves_below else below, share if moves_above else above)
                for share in _SHARES.tolist()
            ]
            errors = [_error(values, weights, low * a, high * b, levels) for a, b in trials]
            below, above = trials[int(np.argmin(errors))]
        return low * below, high * above


def _error(
    values: np.ndarray[Any, Any],
    weights: np.ndarray[Any, Any],
    low: float,
    high: float,
    levels: int,
) -> float:
    scale = (high - low) / (levels - 1)
    if scale <= 0:
        return np.inf
    zero = np.rint(-low / scale)
    steps = np.clip(np.rint(values / scale), -zero, levels - 1 - zero)
    return float(np.dot(weights, np.square(values - steps * scale)))
