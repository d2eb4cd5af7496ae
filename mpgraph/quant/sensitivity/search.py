"""The search for the nodes to keep in float: deciding alone, all measurements come from outside."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

__all__ = ["Measure", "Part", "choose_kept", "measure_alone", "release", "search_kept"]

Measure = Callable[[frozenset[int]], float]
"""The error of the outputs when the given parts are quantized and all others are not."""

_HARMLESS = 0.1
"""To what part of the limit an error shows that no member of a group is harmful."""

_SPLIT = 8
"""Into how many pieces a group is split at most whose error is more than that."""

_TIGHTENED = 2
"""By what the limit of estimates is divided where the model that is built is beyond it."""

_ROUNDS = 3
"""How many such limits are tried."""

_BISECTED = 5
"""How many models are built at most between too few parts and enough."""

_LET_GO, _READMITTED = 24, 8
"""How many sets are tried at most, estimated and built, to see what need not be kept."""

_FAILURES = 6
"""After so many parts in a row that must be kept, the more harmful ones are not tried."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is quantized or kept in float as a whole.

    Attributes:
        error: The error of the outputs when it alone is quantized.
        gain: What its quantization gains, in any unit; above 0.
    """

    error: float
    gain: float

    @property
    def harm(self) -> float:
        """The error for each unit gained; squared, as independent errors add up."""
        return self.error**2 / self.gain


def measure_alone(error: Measure, count: int, limit: float) -> list[float]:
    """The error that each part causes by itself.

    Neighbours are measured together first; where they do next to nothing, or no more than their
    share of what all parts may do, each gets its share and is not run by itself.

    Args:
        error: Measures sets of parts.
        count: How many parts there are, in the order in which they are computed.
        limit: The error that is allowed in the end.
    """
    alone = [0.0] * count
    pending = _pieces(range(count))
    while pending:
        group = pending.pop()
        found = error(frozenset(group))
        share = math.sqrt(len(group) / count)
        if len(group) == 1 or found <= max(_HARMLESS, share) * limit:
            for part in group:
                alone[part] = found / math.sqrt(len(group))
        else:
            pending += _pieces(group)
    return alone


def _pieces(group: range) -> list[range]:
    """Neighbours in a few runs, each as long as the largest power of the number of pieces."""
    size = 1
    while size * _SPLIT < len(group):
        size *= _SPLIT
    return [group[start : start + size] for start in range(0, len(group), size)]


def choose_kept(error: Measure, parts: Sequence[Part], limit: float) -> frozenset[int]:
    """The parts to keep, so that the others together stay within the limit.

    Parts are kept in the order of the harm they do for what they gain, as few of them as will do
    (found by bisection). Then those that turn out not to matter are let go again.
    """
    order = _by_harm(parts)
    everything = frozenset(order)
    low, high = 0, len(order)
    if error(everything) <= limit:
        return frozenset()
    while high - low > 1:
        middle = (low + high) // 2
        if error(everything.difference(order[:middle])) <= limit:
            high = middle
        else:
            low = middle
    return _let_go(error, parts, frozenset(order[:high]), limit, _LET_GO)


def search_kept(
    estimate: Measure, build: Measure, parts: Sequence[Part], limit: float
) -> frozenset[int]:
    """The parts to keep, verified on models that were really built.

    Args:
        estimate: Measures cheaply, without what quantized parts do to each other in a row.
        build: Builds a model and measures it.
        parts: All parts.
        limit: The error that is allowed.
    """
    too_few, enough = _estimated(estimate, build, parts, limit)
    kept = _bisected(build, parts, too_few, enough, limit)
    return _let_go(build, parts, kept, limit, _READMITTED)


def release(
    estimate: Measure, build: Measure, parts: Sequence[Part], kept: frozenset[int], limit: float
) -> frozenset[int]:
    """The kept parts without those that can be quantized after all, verified on a built model.

    Args:
        estimate: Measures cheaply, without what quantized parts do to each other in a row.
        build: Builds a model and measures it.
        parts: All parts.
        kept: Parts that suffice for the limit.
        limit: The error that is allowed.
    """
    everything = frozenset(range(len(parts)))
    fewer = _let_go(estimate, parts, kept, limit, _LET_GO)
    return fewer if fewer != kept and build(everything - fewer) <= limit else kept


def _estimated(
    estimate: Measure, build: Measure, parts: Sequence[Part], limit: float
) -> tuple[frozenset[int], frozenset[int]]:
    """What the estimates ask for; where the built model is off by more, with a lower limit.

    Returns:
        The most parts that were too few to keep, and parts that are enough.
    """
    everything = frozenset(range(len(parts)))
    allowed, kept = limit, frozenset[int]()
    for _ in range(_ROUNDS):
        chosen = choose_kept(estimate, parts, allowed) | kept
        if chosen != kept and build(everything - chosen) <= limit:
            return kept, chosen
        kept = chosen
        allowed /= _TIGHTENED
    return kept, everything


def _bisected(
    build: Measure,
    parts: Sequence[Part],
    too_few: frozenset[int],
    enough: frozenset[int],
    limit: float,
) -> frozenset[int]:
    """The fewest parts to keep between two sets, by bisection over built models."""
    everything = frozenset(range(len(parts)))
    order = [part for part in _by_harm(parts) if part in enough - too_few]
    low, high = 0, len(order)
    for _ in range(_BISECTED):
        if not too_few or high - low < 2:
            break
        middle = (low + high) // 2
        if build(everything - too_few - frozenset(order[:middle])) <= limit:
            high = middle
        else:
            low = middle
    return too_few | frozenset(order[:high])


def _let_go(
    error: Measure, parts: Sequence[Part], kept: frozenset[int], limit: float, tries: int
) -> frozenset[int]:
    """The kept parts without those that can be quantized after all, the least harmful first.

    Args:
        error: Measures sets of parts.
        parts: All parts.
        kept: Parts that suffice for the limit.
        limit: The error that is allowed.
        tries: How many sets to measure at most.
    """
    everything = frozenset(range(len(parts)))
    order = [part for part in reversed(_by_harm(parts)) if part in kept]
    start, size, failures = 0, 1, 0
    while start < len(order) and tries > 0 and failures < _FAILURES:
        group = frozenset(order[start : start + size])
        tries -= 1
        if error((everything - kept) | group) <= limit:
            kept -= group
            start, size, failures = start + size, 2 * size, 0
        elif size > 1:
            size //= 2
        else:
            start, failures = start + 1, failures + 1
    return kept


def _by_harm(parts: Collection[Part]) -> list[int]:
    """The parts, the most harmful for what they gain first."""
    listed = list(parts)
    return sorted(range(len(listed)), key=lambda one: (-listed[one].harm, one))
