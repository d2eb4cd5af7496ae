"""One array in a few numbers: what every observer adds up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["ORDINARY_BELOW", "PART", "Band", "Summary", "summarize", "summarize_part"]

ORDINARY_BELOW = 64.0
"""Magnitudes from here on are counted by power of two, so that masks among them can be told."""

PART = 1 << 15
"""At most so many elements of one array enter a histogram."""

# Pieces that stay in the processor's cache, for several passes each.
_PIECE = 1 << 17


@dataclass(frozen=True, slots=True)
class Band:
    """The elements of one sign with magnitudes in [2^(e-1), 2^e).

    Attributes:
        count: How many there are.
        low, high: The least and the greatest of them.
    """

    count: int
    low: float
    high: float

    def merge(self, other: Band) -> Band:
        """The elements of both."""
        return Band(self.count + other.count, min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True, slots=True)
class Summary:
    """What one array holds.

    Attributes:
        count: Its elements.
        nonfinite: NaN and infinite ones among them.
        low, high: Least and greatest of the finite elements below ``ORDINARY_BELOW`` in magnitude;
            +inf and -inf where there is none.
        bands: The other finite elements by exponent e, negative for negative elements.
        part: Finite elements for a histogram, at most ``PART``.
        step: How many elements each of these stands for.
    """

    count: int
    nonfinite: int
    low: float
    high: float
    bands: Mapping[int, Band] = field(default_factory=dict)
    part: np.ndarray[Any, Any] = field(default_factory=lambda: np.zeros(0, np.float32))
    step: int = 1


def summarize(array: np.ndarray[Any, Any]) -> Summary:
    """The summary of an array of any shape and any number dtype, bfloat16 included."""
    flat = np.asarray(array).reshape(-1)
    if flat.dtype not in (np.float32, np.float64):
        flat = flat.astype(np.float64 if flat.dtype.kind in "iu" else np.float32)
    if flat.size == 0:
        return Summary(0, 0, np.inf, -np.inf, part=flat)
    low, high = _extremes(flat)
    if low > -ORDINARY_BELOW and high < ORDINARY_BELOW:
        step = _step(flat.size)
        return Summary(flat.size, 0, low, high, part=flat[::step], step=step)
    return _with_bands(flat)


def summarize_part(
    count: int, nonfinite: int, low: float, high: float, part: np.ndarray[Any, Any], step: int
) -> Summary:
    """The summary of an array of which only some elements are at hand.

    Where elements that are not ordinary are among them, the part stands for the rest: its bands
    are those of the array, but for the extremes.

    Args:
        count: Elements of the array.
        nonfinite: NaN and infinite ones among them.
        low, high: Least and greatest finite element; +inf and -inf where there is none.
        part: Every ``step``-th element, finite ones only, at most ``PART``.
        step: How many elements each of the part stands for.
    """
    if low > -ORDINARY_BELOW and high < ORDINARY_BELOW:
        return Summary(count, nonfinite, low, high, {}, part, step)
    seen = summarize(part)
    ordinary, bands = [seen.low, seen.high], {}
    for key, band in seen.bands.items():
        bands[key] = Band(band.count * step, band.low, band.high)
    for end in (low, high):
        if abs(end) < ORDINARY_BELOW:
            ordinary = [min(ordinary[0], end), max(ordinary[1], end)]
        elif np.isfinite(end):
            ((key, one),) = _bands_of(np.array([end])).items()
            known = bands.get(key, one)
            bands[key] = Band(known.count, min(known.low, end), max(known.high, end))
    return Summary(count, nonfinite, ordinary[0], ordinary[1], bands, part, step)


def _step(size: int) -> int:
    """The least odd step that leaves ``PART`` elements or fewer.

    An odd step meets every column of the even row lengths that activations have.
    """
    return -(-size // PART) | 1


def _bands_of(values: np.ndarray[Any, Any]) -> dict[int, Band]:
    """Finite values that are not ordinary, by signed exponent."""
    exponents = np.frexp(values)[1]
    keys = np.where(values < 0, -exponents, exponents)
    found = {}
    for key in np.unique(keys).tolist():
        chosen = values[keys == key]
        found[key] = Band(chosen.size, float(chosen.min()), float(chosen.max()))
    return found


def _extremes(flat: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Least and greatest element; NaN where there is one."""
    if flat.size <= _PIECE:
        return float(flat.min()), float(flat.max())
    pieces = [flat[start : start + _PIECE] for start in range(0, flat.size, _PIECE)]
    pairs = np.array([(piece.min(), piece.max()) for piece in pieces])
    return float(pairs[:, 0].min()), float(pairs[:, 1].max())


def _with_bands(flat: np.ndarray[Any, Any]) -> Summary:
    finite = np.isfinite(flat)
    kept = flat if finite.all() else flat[finite]
    outlying = np.abs(kept) >= ORDINARY_BELOW
    ordinary = kept[~outlying]
    step = _step(kept.size)
    return Summary(
        flat.size,
        flat.size - kept.size,
        float(ordinary.min(initial=np.inf)),
        float(ordinary.max(initial=-np.inf)),
        _bands_of(kept[outlying]),
        kept[::step],
        step,
    )
