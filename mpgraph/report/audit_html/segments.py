"""Cuts a long run of things into segments that exchange few values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

__all__ = ["crossings", "cut_points", "segment_size"]

SMALLEST = 40
"""A segment is about this large at least, so that it is worth a level of its own."""


def segment_size(count: int) -> int:
    """How many things a segment holds if there are about as many segments as things in each."""
    return max(SMALLEST, math.isqrt(count))


def crossings(count: int, spans: Iterable[tuple[int, int]]) -> list[int]:
    """How many values are alive behind each of ``count`` things.

    Args:
        count: How many things stand in the run.
        spans: For each value the place where it is made and the last one where it is read.
    """
    steps = [0] * (count + 1)
    for start, stop in spans:
        steps[start] += 1
        steps[max(start, stop)] -= 1
    alive = 0
    found = []
    for step in steps[:count]:
        alive += step
        found.append(alive)
    return found


def cut_points(alive: Sequence[int], size: int) -> list[int]:
    """Where to cut, as the starts of the second and later segments.

    Each segment is between half and one and a half times ``size``; of the places in this window
    the one is taken behind which the fewest values are alive, the nearest to ``size`` among them.
    """
    cuts: list[int] = []
    start, count = 0, len(alive)
    while count - start > size + size // 2:
        ideal = start + size
        window = range(start + (size + 1) // 2, min(ideal + size // 2, count - size // 2) + 1)
        start = min(window, key=lambda at: (alive[at - 1], abs(at - ideal)), default=ideal)
        cuts.append(start)
    return cuts
