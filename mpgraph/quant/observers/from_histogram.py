"""Ranges that are found in a histogram of the elements."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from mpgraph.quant.observers.accumulator import Range
from mpgraph.quant.observers.extremes import MinMax, checked_extremes
from mpgraph.quant.observers.histogram import Bins, Histogram
from mpgraph.quant.observers.summary import Summary
from mpgraph.quant.observers.tally import Tally

__all__ = ["FromHistogram"]


@dataclass
class FromHistogram(MinMax):
    """Extremes and a histogram; exact in any order.

    Extremes are those of all elements; of an array of more than ``PART`` elements, evenly spaced
    ones enter the histogram, each for as many as it stands for. A range never passes the extremes.
    """

    histogram: Histogram = field(default_factory=Histogram)

    def add(self, summary: Summary, sample: int = 0) -> None:
        """Add a summarized array."""
        self.tally = self.tally.merge(Tally.of(summary))
        self.histogram.add(summary.part, summary.step)

    def merge(self, other: Self) -> Self:
        """A new accumulator over what both saw."""
        return self._with(self.tally.merge(other.tally), self.histogram.merge(other.histogram))

    def range(self, levels: int = 256, symmetric: bool = False) -> Range:
        """The range that this observer finds for a format of so many levels.

        Raises:
            DataError: No finite element was seen.
        """
        low, high = checked_extremes(self.tally)
        bins = self.histogram.bins(self.tally.kept_bands)
        if low == high or not bins.counts.any():
            return Range.of(low, high)
        found = self.find(bins, low, high, levels, symmetric)
        return Range.of(*np.clip(found, low, high).tolist())

    @abstractmethod
    def find(
        self, bins: Bins, low: float, high: float, levels: int, symmetric: bool
    ) -> tuple[float, float]:
        """The range, given the histogram and the extremes."""

    def parameters(self) -> dict[str, Any]:
        """What the constructor takes besides the state."""
        return {}

    def get_config(self) -> dict[str, Any]:
        """The state, for JSON."""
        return {
            **self.parameters(),
            "tally": self.tally.get_config(),
            "histogram": self.histogram.get_config(),
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """The accumulator of what ``get_config`` gave."""
        rest = {key: one for key, one in config.items() if key not in ("tally", "histogram")}
        tally, histogram = config["tally"], config["histogram"]
        return cls(Tally.from_config(tally), Histogram.from_config(histogram), **rest)

    def _with(self, tally: Tally, histogram: Histogram) -> Self:
        return type(self)(tally, histogram, **self.parameters())
