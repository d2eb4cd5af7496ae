"""What comes out of a run for one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

__all__ = ["Observed", "Reduced", "odd_step"]


@dataclass(frozen=True, slots=True)
class Reduced:
    """An array that stayed inside the graph.

    Attributes:
        count: Its elements.
        nonfinite: NaN and infinite ones among them.
        low, high: Least and greatest finite element; +inf and -inf where there is none.
        part: Evenly spaced elements, all finite; empty where none were asked for.
        step: How many elements each of these stands for.
    """

    count: int
    nonfinite: int
    low: float
    high: float
    part: np.ndarray[Any, Any]
    step: int


Observed: TypeAlias = np.ndarray[Any, Any] | Reduced
"""The whole array, or what the graph made of it."""


def odd_step(count: int, part: int) -> int:
    """The step with which the graphs here take at most ``part`` of ``count`` elements."""
    return -(-count // part) | 1 if part else 1
