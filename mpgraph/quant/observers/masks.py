"""Values that stand for "nothing here", told from large activations by where they lie.

Attention masks are added to logits as one huge constant (-1e4, -1e9, the lowest float32). A range
that takes them in has no levels left for the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from mpgraph.quant.observers.summary import Band

__all__ = ["LeftOut", "find_masks"]

GAP = 8.0
"""A mask is at least so many times larger than everything else."""

SHARE = 1e-3
"""Masks that something was added to make up at least this share of the elements."""

LARGE_SHARE = 2e-2
"""So many must they be where the evidence is weaker.

One hot channel, or the first token of each text, is far from the rest too, but is few elements.
"""

TIGHT = 1e-2
"""Evidence is strong where the rest spans at most this share of the constant."""

# No activation of a working model is that large.
_ABSURD = 1e30
_CONSTANTS = (*(10.0**power for power in range(2, 39)), 65504.0, 3.3895e38, 3.4028235e38)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Elements that were kept out of a range.

    Attributes:
        keys: Their bands.
        count: How many.
        low, high: Least and greatest of them.
        reason: The evidence.
    """

    keys: tuple[int, ...]
    count: int
    low: float
    high: float
    reason: str


def find_masks(bands: Mapping[int, Band], low: float, high: float, count: int) -> list[LeftOut]:
    """The groups of bands that are masks, largest first.

    Args:
        bands: The outlying elements by signed exponent.
        low, high: Range of the ordinary elements; low above high where there is none.
        count: All finite elements.
    """
    left = dict(bands)
    found: list[LeftOut] = []
    while left:
        group = _largest_group(left)
        rest = {key: band for key, band in left.items() if key not in group}
        lowest = min([low, *(band.low for band in rest.values())])
        highest = max([high, *(band.high for band in rest.values())])
        reason = _evidence([left[key] for key in group], lowest, highest, count)
        if not reason:
            break
        whole = _joined([left[key] for key in group])
        found.append(LeftOut(tuple(group), whole.count, whole.low, whole.high, reason))
        left = rest
    return found


def _largest_group(bands: Mapping[int, Band]) -> list[int]:
    """The largest band and those of its sign that follow without a wide gap."""
    top = max(bands, key=lambda key: (abs(key), key < 0))
    keys = sorted((key for key in bands if (key < 0) == (top < 0)), key=abs, reverse=True)
    group = [top]
    for key in keys[1:]:
        if _least(bands[group[-1]]) >= GAP * _greatest(bands[key]):
            break
        group.append(key)
    return group


def _evidence(group: list[Band], low: float, high: float, count: int) -> str:
    """Why a group of bands beside a rest in [low, high] is a mask; empty where it is none."""
    whole = _joined(group)
    # A rest of one value, such as the zeros of the mask itself, needs no levels of its own.
    if low >= high or _least(whole) < GAP * max(-low, high):
        return ""
    if _least(whole) >= _ABSURD:
        return "near the limit of the dtype, far from the rest"
    if whole.low == whole.high and whole.count > 1:
        known = any(math.isclose(-whole.low, constant, rel_tol=1e-6) for constant in _CONSTANTS)
        if known or whole.count >= LARGE_SHARE * count:
            return f"the same value {whole.count} times, far from the rest"
    # What was added to the constant is like the rest, give or take.
    reach = 1.5 * (high - low)
    for constant in _CONSTANTS:
        share = SHARE if high - low <= TIGHT * constant else LARGE_SHARE
        if constant >= 2 * reach and whole.count >= share * count and _near(group, constant, reach):
            return f"{-constant:.6g} and what was added to it"
    return ""


def _near(group: list[Band], constant: float, reach: float) -> bool:
    """Whether all elements are near minus the constant, or twice that where two masks met."""
    ends = [end for band in group for end in (band.low, band.high)]
    return all(min(abs(end + constant), abs(end + 2 * constant)) <= reach for end in ends)


def _joined(bands: list[Band]) -> Band:
    whole = bands[0]
    for band in bands[1:]:
        whole = whole.merge(band)
    return whole


def _least(band: Band) -> float:
    return min(abs(band.low), abs(band.high))


def _greatest(band: Band) -> float:
    return max(abs(band.low), abs(band.high))
