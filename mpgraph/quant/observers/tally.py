"""Counts and extremes of everything that was seen of one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mpgraph.quant.observers.masks import LeftOut, find_masks
from mpgraph.quant.observers.summary import Band, Summary

__all__ = ["Tally"]


@dataclass(frozen=True)
class Tally:
    """Exact and mergeable in any order.

    Attributes:
        count: Elements seen.
        nonfinite: NaN and infinite ones, which enter no range.
        low, high: Range of the ordinary elements; +inf and -inf where there is none.
        bands: The larger elements by signed exponent.
    """

    count: int = 0
    nonfinite: int = 0
    low: float = np.inf
    high: float = -np.inf
    bands: Mapping[int, Band] = field(default_factory=dict)

    @staticmethod
    def of(summary: Summary) -> Tally:
        """The tally of one array."""
        return Tally(
            summary.count, summary.nonfinite, summary.low, summary.high, dict(summary.bands)
        )

    def merge(self, other: Tally) -> Tally:
        """The tally over what both saw."""
        bands = dict(self.bands)
        for key, band in other.bands.items():
            bands[key] = bands[key].merge(band) if key in bands else band
        return Tally(
            self.count + other.count,
            self.nonfinite + other.nonfinite,
            min(self.low, other.low),
            max(self.high, other.high),
            bands,
        )

    @property
    def finite(self) -> int:
        """Finite elements seen."""
        return self.count - self.nonfinite

    @cached_property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The masks among the elements."""
        return tuple(find_masks(self.bands, self.low, self.high, self.finite))

    @cached_property
    def kept_bands(self) -> dict[int, Band]:
        """The larger elements that are no masks."""
        gone = {key for group in self.left_out for key in group.keys}
        return {key: band for key, band in self.bands.items() if key not in gone}

    def extremes(self) -> tuple[float, float]:
        """Least and greatest finite element that is no mask; +inf and -inf where there is none."""
        kept = self.kept_bands.values()
        return (
            min([self.low, *(band.low for band in kept)]),
            max([self.high, *(band.high for band in kept)]),
        )

    def get_config(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return {
            "count": self.count,
            "nonfinite": self.nonfinite,
            "ordinary": [self.low, self.high] if self.low <= self.high else None,
            "bands": {
                str(key): [band.count, band.low, band.high]
                for key, band in sorted(self.bands.items())
            },
        }

    @staticmethod
    def from_config(config: Mapping[str, Any]) -> Tally:
        """The tally of what ``get_config`` gave."""
        low, high = config["ordinary"] or (np.inf, -np.inf)
        bands = {int(key): Band(*values) for key, values in config["bands"].items()}
        return Tally(int(config["count"]), int(config["nonfinite"]), low, high, bands)
