"""The exponential moving average of the extremes of each sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Self

import numpy as np

from mpgraph.quant.observers.accumulator import Range
from mpgraph.quant.observers.extremes import checked_extremes
from mpgraph.quant.observers.masks import LeftOut
from mpgraph.quant.observers.summary import Summary, summarize
from mpgraph.quant.observers.tally import Tally

__all__ = ["MovingAverage"]


@dataclass
class MovingAverage:
    """Averages in the order of the sample indices, whatever the order they came in.

    The extremes of each sample are kept, a few numbers a sample, so that a merge is exact.

    Attributes:
        momentum: Weight of each new sample, in (0, 1].
        samples: The tally of each sample by its index.
    """

    momentum: float = 0.01
    samples: dict[int, Tally] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Elements seen."""
        return sum(tally.count for tally in self.samples.values())

    @property
    def nonfinite(self) -> int:
        """NaN and infinite elements among them."""
        return sum(tally.nonfinite for tally in self.samples.values())

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Masks that were kept out of the range."""
        return self.tally.left_out

    @property
    def tally(self) -> Tally:
        """Counts and extremes of all samples together."""
        return reduce(Tally.merge, self.samples.values(), Tally())

    def update(self, array: np.ndarray[Any, Any], sample: int = 0) -> None:
        """Add an array; several of one sample count as one."""
        self.add(summarize(array), sample)

    def add(self, summary: Summary, sample: int = 0) -> None:
        """Add a summarized array of one sample."""
        tally = Tally.of(summary)
        self.samples[sample] = self.samples.get(sample, Tally()).merge(tally)

    def merge(self, other: Self) -> Self:
        """A new accumulator over what both saw; a sample that both hold is one of both."""
        samples = dict(self.samples)
        for index, tally in other.samples.items():
            samples[index] = samples.get(index, Tally()).merge(tally)
        return type(self)(self.momentum, samples)

    def later(self, samples: int) -> Self:
        """The same, with the places of all its samples moved by ``samples``."""
        moved = {index + samples: tally for index, tally in self.samples.items()}
        return type(self)(self.momentum, moved)

    def range(self, levels: int = 256, symmetric: bool = False) -> Range:
        """The averages of the least and of the greatest elements, whatever the format.

        A mask is told by all samples together, then left out of each.

        Raises:
            DataError: No finite element was seen.
        """
        total = self.tally
        checked_extremes(total)
        masks = {key for group in total.left_out for key in group.keys}
        average: np.ndarray[Any, Any] | None = None
        for _, tally in sorted(self.samples.items()):
            bands = {key: band for key, band in tally.bands.items() if key not in masks}
            lows = [tally.low, *(band.low for band in bands.values())]
            highs = [tally.high, *(band.high for band in bands.values())]
            seen = np.array([min(lows), max(highs)])
            if seen[0] <= seen[1]:
                average = seen if average is None else average + self.momentum * (seen - average)
        low, high = (0.0, 0.0) if average is None else average
        return Range.of(float(low), float(high))

    def get_config(self) -> dict[str, Any]:
        """The state, for JSON."""
        samples = {str(index): one.get_config() for index, one in sorted(self.samples.items())}
        return {"momentum": self.momentum, "samples": samples}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """The accumulator of what ``get_config`` gave."""
        samples = {int(key): Tally.from_config(one) for key, one in config["samples"].items()}
        return cls(config["momentum"], samples)
