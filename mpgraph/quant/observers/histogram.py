"""A histogram that grows: bins as wide as a power of two, with an edge at zero.

Where a larger value comes, neighbouring bins are joined in pairs. What a bin holds then depends
only on the values and the final width, so that a merge is exact whatever the order.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mpgraph.quant.observers.summary import ORDINARY_BELOW

__all__ = ["HALF", "Bins", "Histogram"]

HALF = 4096
"""Bins on either side of zero."""

# Bins of one power of two, as wide as those of a histogram that ends there.
_PER_BAND = HALF // 2
# Below this exponent of the width, one over the width would pass the range of float32.
_NARROWEST = -120
_Counts = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class Bins:
    """Counts of evenly spaced bins.

    Attributes:
        counts: int64[2 * HALF]; bin i holds [(i - HALF) * width, (i + 1 - HALF) * width).
        width: Width of a bin.
    """

    counts: _Counts
    width: float

    @property
    def centres(self) -> np.ndarray[Any, Any]:
        """The middle of each bin."""
        return (np.arange(-HALF, HALF) + 0.5) * self.width


@dataclass(slots=True)
class Histogram:
    """Counts of finite values.

    Attributes:
        exponent: The bins of ordinary values are 2^exponent wide; None before there was one.
        counts: Their counts, int64[2 * HALF].
        bands: Counts of the larger values by signed exponent, int64[HALF / 2] each.
    """

    exponent: int | None = None
    counts: _Counts = field(default_factory=lambda: np.zeros(2 * HALF, np.int64))
    bands: dict[int, _Counts] = field(default_factory=dict)

    def add(self, values: np.ndarray[Any, Any], weight: int = 1) -> None:
        """Count finite values, float32 or float64, each ``weight`` times."""
        if values.size == 0:
            return
        # Elements of a strided array are far apart: they are fetched once.
        values = np.ascontiguousarray(values)
        largest = max(-float(values.min()), float(values.max()))
        if largest >= ORDINARY_BELOW:
            outlying = np.abs(values) >= ORDINARY_BELOW
            self._add_bands(values[outlying], weight)
            values = values[~outlying]
            largest = float(np.abs(values).max(initial=-1.0))
            if largest < 0:
                return
        self._widen(_exponent_for(largest))
        self.counts += np.bincount(self._indices(values), minlength=2 * HALF) * weight

    def merge(self, other: Histogram) -> Histogram:
        """The histogram over what both counted."""
        merged = Histogram(self.exponent, self.counts.copy(), dict(self.bands))
        if other.exponent is not None:
            merged._widen(other.exponent)
            merged.counts += _joined(other.counts, (merged.exponent or 0) - other.exponent)
        for key, counts in other.bands.items():
            merged.bands[key] = merged.bands[key] + counts if key in merged.bands else counts
        return merged

    def bins(self, keys: Collection[int]) -> Bins:
        """Ordinary values and those of some bands on one scale.

        Args:
            keys: The bands to take.
        """
        chosen = [key for key in keys if key in self.bands]
        top = max((abs(key) for key in chosen), default=None)
        own = _NARROWEST if self.exponent is None else self.exponent
        exponent = own if top is None else top - HALF.bit_length() + 1
        counts = _joined(self.counts, exponent - own)
        for key in chosen:
            start = _PER_BAND if key > 0 else -2 * _PER_BAND
            bins = np.arange(start, start + _PER_BAND) >> (exponent + 12 - abs(key))
            np.add.at(counts, bins + HALF, self.bands[key])
        return Bins(counts, 2.0**exponent)

    def get_config(self) -> dict[str, Any]:
        """All fields, for JSON; counts are packed."""
        return {
            "exponent": self.exponent,
            "counts": _packed(self.counts),
            "bands": {str(key): _packed(counts) for key, counts in sorted(self.bands.items())},
        }

    @staticmethod
    def from_config(config: Mapping[str, Any]) -> Histogram:
        """The histogram of what ``get_config`` gave."""
        bands = {int(key): _unpacked(text, _PER_BAND) for key, text in config["bands"].items()}
        return Histogram(config["exponent"], _unpacked(config["counts"], 2 * HALF), bands)

    def _widen(self, exponent: int) -> None:
        if self.exponent is None:
            self.exponent = exponent
        elif exponent > self.exponent:
            self.counts = _joined(self.counts, exponent - self.exponent)
            self.exponent = exponent

    def _indices(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        exponent = self.exponent or 0
        # Exact, because the factor is a power of two.
        scaled: np.ndarray[Any, Any] = np.multiply(values, values.dtype.type(2.0**-exponent))
        np.floor(scaled, out=scaled)
        indices: np.ndarray[Any, Any] = scaled.astype(np.int32)
        indices += HALF
        return indices

    def _add_bands(self, values: np.ndarray[Any, Any], weight: int) -> None:
        fractions, exponents = np.frexp(values)
        # A fraction lies in [0.5, 1), or in (-1, -0.5] for a negative value.
        inner = np.floor(fractions.astype(np.float64) * HALF).astype(np.int64)
        inner = np.where(values < 0, np.minimum(inner + HALF, _PER_BAND - 1), inner - _PER_BAND)
        keys = np.where(values < 0, -exponents, exponents)
        for key in np.unique(keys).tolist():
            counts = np.bincount(inner[keys == key], minlength=_PER_BAND) * weight
            self.bands[key] = self.bands[key] + counts if key in self.bands else counts


def _exponent_for(largest: float) -> int:
    """The least exponent of a width with which ``HALF`` bins reach past ``largest``."""
    if largest == 0:
        return _NARROWEST
    return max(int(np.frexp(largest)[1]) - HALF.bit_length() + 1, _NARROWEST)


def _joined(counts: _Counts, doublings: int) -> _Counts:
    """The counts in bins that are 2^doublings as wide."""
    if doublings <= 0:
        return counts.copy()
    shift = min(doublings, HALF.bit_length())
    filled = np.flatnonzero(counts)
    joined = np.zeros_like(counts)
    np.add.at(joined, ((filled - HALF) >> shift) + HALF, counts[filled])
    return joined


def _packed(counts: _Counts) -> str:
    return base64.b64encode(zlib.compress(counts.astype("<i8").tobytes(), 6)).decode()


def _unpacked(text: str, size: int) -> _Counts:
    try:
        counts = np.frombuffer(zlib.decompress(base64.b64decode(text)), "<i8").astype(np.int64)
    except zlib.error as error:
        raise ValueError(f"packed counts: {error}") from error
    if counts.size != size:
        raise ValueError(f"{size} counts expected, got {counts.size}")
    return counts
