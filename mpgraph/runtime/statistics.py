"""What was seen of one float value: mergeable statistics in constant memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from mpgraph.analysis.magnitudes import merge_octaves, octaves

__all__ = ["FLUSHED_BELOW", "SUBNORMAL_BELOW", "ValueStatistics"]

FLUSHED_BELOW = 2.0**-25
"""Magnitudes up to this one round to zero in float16: half its smallest subnormal, tie to even."""

SUBNORMAL_BELOW = 2.0**-14
"""Magnitudes below this one are subnormal in float16 and lose digits."""


@dataclass(frozen=True, slots=True)
class ValueStatistics:
    """Statistics of the elements of one value over all samples, steps and branches.

    All but ``count`` and ``nonfinite`` speak of the finite elements only.

    Attributes:
        count: Elements seen.
        nonfinite: NaN and infinite elements among them.
        minimum, maximum: Smallest and largest element; +inf and -inf before any was seen.
        amin_nonzero: Smallest magnitude above zero; inf if there is none.
        mean_abs: Mean magnitude.
        mean_square: Mean square.
        nonzero: Elements that are not zero.
        flushed: Nonzero elements that float16 rounds to zero.
        subnormal: Nonzero elements below the smallest normal of float16, flushed ones included.
        integer_valued: Whether every element is a whole number.
        octaves: How many nonzero elements have a magnitude in [2^e, 2^(e+1)), by exponent e; not
            counted for values in bodies, whose statistics are computed inside of the graph.
    """

    count: int = 0
    nonfinite: int = 0
    minimum: float = math.inf
    maximum: float = -math.inf
    amin_nonzero: float = math.inf
    mean_abs: float = 0.0
    mean_square: float = 0.0
    nonzero: int = 0
    flushed: int = 0
    subnormal: int = 0
    integer_valued: bool = True
    octaves: Mapping[int, int] = field(default_factory=dict)

    @property
    def finite(self) -> int:
        """Finite elements seen."""
        return self.count - self.nonfinite

    @property
    def amax(self) -> float:
        """Largest magnitude; 0 before any element was seen."""
        return max(-self.minimum, self.maximum, 0.0) if self.finite else 0.0

    @property
    def flushed_fraction(self) -> float:
        """Share of the nonzero elements that float16 rounds to zero."""
        return self.flushed / self.nonzero if self.nonzero else 0.0

    @property
    def subnormal_fraction(self) -> float:
        """Share of the nonzero elements below the smallest normal of float16."""
        return self.subnormal / self.nonzero if self.nonzero else 0.0

    def merge(self, other: Self) -> ValueStatistics:
        """The statistics over what both saw."""
        finite = self.finite + other.finite
        share = other.finite / finite if finite else 0.0
        return ValueStatistics(
            self.count + other.count,
            self.nonfinite + other.nonfinite,
            min(self.minimum, other.minimum),
            max(self.maximum, other.maximum),
            min(self.amin_nonzero, other.amin_nonzero),
            self.mean_abs + (other.mean_abs - self.mean_abs) * share,
            self.mean_square + (other.mean_square - self.mean_square) * share,
            self.nonzero + other.nonzero,
            self.flushed + other.flushed,
            self.subnormal + other.subnormal,
            self.integer_valued and other.integer_valued,
            merge_octaves(self.octaves, other.octaves),
        )

    @staticmethod
    def of(array: np.ndarray[Any, Any]) -> ValueStatistics:
        """The statistics of one array of any float dtype, bfloat16 included."""
        total = ValueStatistics()
        flat = array.reshape(-1)
        # Pieces that stay in the processor's cache, for several passes each.
        for start in range(0, flat.size, _PIECE):
            total = total.merge(_of_piece(flat[start : start + _PIECE]))
        return replace(total, octaves=octaves(flat))


_PIECE = 1 << 16


def _of_piece(piece: np.ndarray[Any, Any]) -> ValueStatistics:
    values = piece if piece.dtype == np.float64 else piece.astype(np.float32, copy=False)
    count = values.size
    finite = np.isfinite(values)
    if not finite.all():
        values = values[finite]
    if values.size == 0:
        return ValueStatistics(count=count, nonfinite=count)
    magnitude = np.abs(values)
    nonzero = int(np.count_nonzero(magnitude))
    smallest = float(magnitude.min())
    flushed = subnormal = 0
    if smallest < SUBNORMAL_BELOW:
        zeros = values.size - nonzero
        subnormal = int(np.count_nonzero(magnitude < SUBNORMAL_BELOW)) - zeros
        flushed = int(np.count_nonzero(magnitude <= FLUSHED_BELOW)) - zeros
    if nonzero < values.size:
        smallest = float(np.min(magnitude, where=magnitude > 0, initial=np.inf))
    wide = magnitude.astype(np.float64, copy=False)
    return ValueStatistics(
        count,
        count - values.size,
        float(values.min()),
        float(values.max()),
        smallest,
        float(wide.mean()),
        _squares(wide) / values.size,
        nonzero,
        flushed,
        subnormal,
        bool(np.array_equal(np.rint(values), values)),
    )


def _squares(values: np.ndarray[Any, Any]) -> float:
    # Not dot: the threads of BLAS fight with those of onnxruntime over pieces this small.
    with np.errstate(over="ignore"):
        return float(np.einsum("i,i->", values, values))
