"""What the channels of activations hold, as it was seen on data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpgraph.quant.formats.layout import Array

__all__ = ["ChannelStatistics", "Channels"]


@dataclass(frozen=True, eq=False)
class Channels:
    """Sums over all elements of each channel of one value; axis 1 runs along the channels.

    Attributes:
        low: float64[channels], the least element.
        high: The greatest one.
        total: The sum.
        squares: The sum of squares.
        count: How many elements a channel had.
    """

    low: Array
    high: Array
    total: Array
    squares: Array
    count: int

    @staticmethod
    def of(array: Array) -> Channels | None:
        """Those of one array; None where it has no channels, no elements, or is not finite."""
        if array.ndim < 2 or array.size == 0:
            return None
        axes = tuple(axis for axis in range(array.ndim) if axis != 1)
        low, high = array.min(axis=axes), array.max(axis=axes)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            return None
        total = array.sum(axis=axes, dtype=np.float64)
        squares = np.square(array).sum(axis=axes, dtype=np.float64)
        count = array.size // array.shape[1]
        return Channels(low.astype(np.float64), high.astype(np.float64), total, squares, count)

    def merge(self, other: Channels) -> Channels:
        """Those of both."""
        return Channels(
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.total + other.total,
            self.squares + other.squares,
            self.count + other.count,
        )

    @property
    def extent(self) -> Array:
        """How far each channel reaches from the lower of zero and its least element."""
        return np.asarray(np.maximum(self.high, 0.0) - np.minimum(self.low, 0.0))

    @property
    def energy(self) -> Array:
        """The mean square of each channel."""
        return self.squares / self.count

    @property
    def variance(self) -> Array:
        """The variance of each channel."""
        return np.asarray(np.maximum(self.energy - np.square(self.total / self.count), 0.0))


@dataclass(frozen=True)
class ChannelStatistics:
    """The channels of values, by name.

    Attributes:
        values: What was seen.
    """

    until_modified: ClassVar[bool] = True

    values: Mapping[str, Channels]
