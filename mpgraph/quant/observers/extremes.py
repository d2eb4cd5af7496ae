"""The range from the least to the greatest element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from mpgraph.errors import DataError
from mpgraph.quant.observers.accumulator import Range
from mpgraph.quant.observers.masks import LeftOut
from mpgraph.quant.observers.summary import Summary, summarize
from mpgraph.quant.observers.tally import Tally

__all__ = ["MinMax", "checked_extremes"]


@dataclass
class MinMax:
    """Least and greatest finite element, masks left out; exact whatever the order."""

    tally: Tally = field(default_factory=Tally)

    @property
    def count(self) -> int:
        """Elements seen."""
        return self.tally.count

    @property
    def nonfinite(self) -> int:
        """NaN and infinite elements among them."""
        return self.tally.nonfinite

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Masks that were kept out of the range."""
        return self.tally.left_out

    def update(self, array: np.ndarray[Any, Any], sample: int = 0) -> None:
        """Add an array; the sample does not matter."""
        self.add(summarize(array), sample)

    def add(self, summary: Summary, sample: int = 0) -> None:
        """Add a summarized array."""
        self.tally = self.tally.merge(Tally.of(summary))

    def merge(self, other: Self) -> Self:
        """A new accumulator over what both saw."""
        return type(self)(self.tally.merge(other.tally))

    def later(self, samples: int) -> Self:
        """The same: samples are not told apart."""
        return self

    def range(self, levels: int = 256, symmetric: bool = False) -> Range:
        """Least and greatest element, whatever the format.

        Raises:
            DataError: No finite element was seen.
        """
        return Range.of(*checked_extremes(self.tally))

    def get_config(self) -> dict[str, Any]:
        """The state, for JSON."""
        return {"tally": self.tally.get_config()}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """The accumulator of what ``get_config`` gave."""
        return cls(Tally.from_config(config["tally"]))


def checked_extremes(tally: Tally) -> tuple[float, float]:
    """The extremes of a tally.

    Raises:
        DataError: It holds no finite element.
    """
    low, high = tally.extremes()
    if low <= high:
        return low, high
    seen = (
        f"all {tally.count} elements are NaN or infinite" if tally.count else "it was always empty"
    )
    raise DataError("range", f"no finite element was seen: {seen}", "look at the data")
