"""A calibration in numbers: every range, and what is odd about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mpgraph.quant.calibration import Calibration
from mpgraph.quant.observers import Accumulator, LeftOut

__all__ = ["RangeLine", "describe_ranges", "range_lines"]

_FAR = 8.0
"""What is so many times larger than the rest costs that rest three of its eight bits."""

_FEW = 1e-3


@dataclass(frozen=True, slots=True)
class RangeLine:
    """The range of one value.

    Attributes:
        name: The value.
        low, high: Its range for 256 levels; the widest where there is one per channel.
        elements: Elements seen.
        nonfinite: NaN and infinite ones among them, which were skipped.
        left_out: Masks that were kept out of the range.
        notes: What is odd about it, as phrases.
    """

    name: str
    low: float
    high: float
    elements: int
    nonfinite: int
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]

    @property
    def width(self) -> float:
        """From low to high, 0 included."""
        return max(self.high, 0.0) - min(self.low, 0.0)


def range_lines(calibration: Calibration) -> tuple[RangeLine, ...]:
    """The ranges of the values that were observed, in the order of the model.

    Values that were always empty have none.
    """
    found = []
    for name, one in calibration.accumulators.items():
        if one.count == one.nonfinite:
            continue
        limits = one.range()
        low, high = float(np.min(limits.low)), float(np.max(limits.high))
        notes = tuple(_notes(one, low, high))
        found.append(RangeLine(name, low, high, one.count, one.nonfinite, one.left_out, notes))
    return tuple(found)


def describe_ranges(calibration: Calibration) -> dict[str, Any]:
    """Everything as plain data."""
    return {
        "model": calibration.fingerprint,
        "data": calibration.label,
        "samples": calibration.samples,
        "observer": calibration.observer.get_config(),
        "values": [asdict(line) for line in range_lines(calibration)],
        "aliases": dict(calibration.aliases),
        "missing": dict(calibration.missing),
    }


def _notes(one: Accumulator, low: float, high: float) -> Iterator[str]:
    if one.nonfinite:
        yield f"{one.nonfinite} NaN or infinite skipped"
    for mask in one.left_out:
        yield f"{mask.count} masks from {mask.low:.4g} to {mask.high:.4g} left out"
    if low == high:
        yield "always the same"
    far = _far_elements(one, max(-low, high))
    if far:
        yield f"{far} of {one.count} elements are {_FAR:g} times beyond the rest"


def _far_elements(one: Accumulator, limit: float) -> int:
    """How many of the largest elements lie far from all others; 0 where they are not few.

    Only elements from 64 on are counted by magnitude.
    """
    bands = sorted(one.tally.kept_bands.items(), key=lambda item: abs(item[0]), reverse=True)
    rest = max(-one.tally.low, one.tally.high)
    count = 0
    for index, (_, band) in enumerate(bands):
        count += band.count
        if count > _FEW * one.count:
            return 0
        below = bands[index + 1][1] if index + 1 < len(bands) else None
        reach = rest if below is None else max(-below.low, below.high)
        if min(abs(band.low), abs(band.high)) >= _FAR * reach:
            return count if limit >= _FAR * reach else 0
    return 0
