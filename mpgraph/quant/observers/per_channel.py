"""A range for each index of one axis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Self

import numpy as np

from mpgraph.errors import DataError
from mpgraph.quant.observers.accumulator import Accumulator, Range
from mpgraph.quant.observers.masks import LeftOut
from mpgraph.quant.observers.summary import Summary
from mpgraph.quant.observers.tally import Tally

__all__ = ["PerChannel"]


@dataclass
class PerChannel:
    """An accumulator per channel.

    Attributes:
        axis: The axis of the channels; negative ones count from the end.
        make: Makes the accumulator of one channel.
        channels: The accumulators; empty before the first array.
    """

    axis: int
    make: Callable[[], Accumulator]
    channels: list[Accumulator] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Elements seen."""
        return sum(one.count for one in self.channels)

    @property
    def nonfinite(self) -> int:
        """NaN and infinite elements among them."""
        return sum(one.nonfinite for one in self.channels)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Masks that were kept out of the ranges."""
        return tuple(group for one in self.channels for group in one.left_out)

    @property
    def tally(self) -> Tally:
        """Counts and extremes of all channels together."""
        return reduce(Tally.merge, (one.tally for one in self.channels), Tally())

    def update(self, array: np.ndarray[Any, Any], sample: int = 0) -> None:
        """Add an array.

        Raises:
            DataError: It lacks the axis, or has another number of channels than before.
        """
        if not -array.ndim <= self.axis < array.ndim:
            raise DataError("range", f"shape {list(array.shape)} has no axis {self.axis}")
        rows = np.moveaxis(array, self.axis, 0)
        if not self.channels:
            self.channels = [self.make() for _ in range(len(rows))]
        self._check(len(rows))
        for one, row in zip(self.channels, rows, strict=True):
            one.update(row, sample)

    def add(self, summary: Summary, sample: int = 0) -> None:
        """Not possible: a summary knows no channels."""
        raise TypeError("ranges per channel need whole arrays")

    def merge(self, other: Self) -> Self:
        """A new accumulator over what both saw.

        Raises:
            DataError: They differ in the number of channels.
        """
        if not self.channels or not other.channels:
            return type(self)(self.axis, self.make, list(self.channels or other.channels))
        self._check(len(other.channels))
        pairs = zip(self.channels, other.channels, strict=True)
        return type(self)(self.axis, self.make, [one.merge(two) for one, two in pairs])

    def later(self, samples: int) -> Self:
        """The same, with the places of all its samples moved by ``samples``."""
        return type(self)(self.axis, self.make, [one.later(samples) for one in self.channels])

    def range(self, levels: int = 256, symmetric: bool = False) -> Range:
        """Ranges of shape (channels,).

        Raises:
            DataError: A channel has no finite element.
        """
        return Range.stack([one.range(levels, symmetric) for one in self.channels])

    def get_config(self) -> dict[str, Any]:
        """The state, for JSON."""
        return {"channels": [one.get_config() for one in self.channels]}

    def _check(self, found: int) -> None:
        if found != len(self.channels):
            raise DataError(
                "range", f"{found} channels on axis {self.axis}, {len(self.channels)} before"
            )
