"""What an observer of one value can do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from mpgraph.quant.observers.masks import LeftOut
from mpgraph.quant.observers.summary import Summary
from mpgraph.quant.observers.tally import Tally

__all__ = ["Accumulator", "Range"]


@dataclass(frozen=True, eq=False)
class Range:
    """A range of real values that a format has to cover.

    Attributes:
        low, high: float64 arrays, of shape () for a tensor or (channels,) for an axis.
    """

    low: np.ndarray[Any, np.dtype[np.float64]]
    high: np.ndarray[Any, np.dtype[np.float64]]

    @staticmethod
    def of(low: float, high: float) -> Range:
        """The range of a whole tensor."""
        return Range(np.array(low, np.float64), np.array(high, np.float64))

    @staticmethod
    def stack(ranges: Sequence[Range]) -> Range:
        """Ranges of channels as one."""
        return Range(
            np.array([float(one.low) for one in ranges], np.float64),
            np.array([float(one.high) for one in ranges], np.float64),
        )


class Accumulator(Protocol):
    """Adds up arrays in constant memory; merged ones equal one that saw everything."""

    @property
    def count(self) -> int:
        """Elements seen."""

    @property
    def nonfinite(self) -> int:
        """NaN and infinite elements among them, which enter no range."""

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Masks that were kept out of the range."""

    @property
    def tally(self) -> Tally:
        """Counts and extremes of everything seen."""

    def update(self, array: np.ndarray[Any, Any], sample: int = 0) -> None:
        """Add an array of any shape and number dtype; ``sample`` is its place in the data."""

    def add(self, summary: Summary, sample: int = 0) -> None:
        """Add an array that was summarized elsewhere.

        Raises:
            TypeError: This observer needs whole arrays.
        """

    def merge(self, other: Self) -> Self:
        """A new accumulator over what both saw."""

    def later(self, samples: int) -> Self:
        """The same, with the places of all its samples moved by ``samples``."""

    def range(self, levels: int = 256, symmetric: bool = False) -> Range:
        """The range.

        Args:
            levels: How many values the format can tell apart.
            symmetric: Whether the format's range is the same on both sides of zero.

        Raises:
            DataError: No finite element was seen.
        """

    def get_config(self) -> dict[str, Any]:
        """The state, for JSON."""
