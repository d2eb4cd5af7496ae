"""Where another tool is better than mpgraph on the same model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tests.benchmarks.peers.result import Result

__all__ = ["Better", "where_others_are_better"]

_OWN = "mpgraph"
_ACCURACY = "accuracy"
# Below this a difference of signal over noise says nothing.
_DECIBELS = 1.0
# From here on what is left is float32's own noise.
_ENOUGH_DECIBELS = 100.0
# Nodes in a low float, or bytes of the file, that count as alike.
_ALIKE = 0.9


@dataclass(frozen=True)
class Better:
    """A cell in which another tool beats every result of mpgraph.

    Attributes:
        suite, model: Where.
        cell: What is better: ``validity``, ``accuracy``, ``latency on cpu`` ...
        other: The result that is better.
        own: What mpgraph has at best, as text.
        theirs: What the other has, as text.
    """

    suite: str
    model: str
    cell: str
    other: Result
    own: str
    theirs: str


def where_others_are_better(results: Iterable[Result]) -> list[Better]:
    """Every such cell. A result that is broken, wrong or untouched beats nothing.

    Accuracy is compared with those results of mpgraph that convert no more than the other does.
    """
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.suite, result.model), []).append(result)
    return [
        better
        for group in groups.values()
        for better in _of_one_model(
            [one for one in group if one.tool == _OWN],
            [one for one in group if one.tool != _OWN and one.verdict == "right"],
        )
    ]


def _of_one_model(own: list[Result], others: list[Result]) -> Iterator[Better]:
    if not own:
        return
    usable = [one for one in own if one.verdict == "right"]
    for other in others:
        if not usable:
            verdicts = ", ".join(dict.fromkeys(one.verdict for one in own))
            yield Better(other.suite, other.model, "validity", other, verdicts, "right")
            continue
        for cell, value, text, gain in _CELLS:
            like = usable if cell != _ACCURACY else [one for one in usable if _as_much(other, one)]
            best = min((found for one in like if (found := value(one)) is not None), default=None)
            theirs = value(other)
            if best is not None and theirs is not None and best - theirs > gain:
                yield Better(other.suite, other.model, cell, other, text(best), text(theirs))
        yield from _latency(usable, other)


def _latency(own: list[Result], other: Result) -> Iterator[Better]:
    """Only where the intervals of the ratios leave no doubt."""
    for target, theirs in other.latency.items():
        ours = [one.latency[target] for one in own if target in one.latency]
        if ours and theirs.high < min(one.low for one in ours):
            best = min(one.ratio for one in ours)
            texts = f"x{best:.2f}", f"x{theirs.ratio:.2f}"
            yield Better(other.suite, other.model, f"latency on {target}", other, *texts)


def _as_much(other: Result, own: Result) -> bool:
    """Whether another tool converts about as much; who converts little is accurate easily."""
    if other.suite == "float16":
        return (other.low or 0) >= _ALIKE * (own.low or 0)
    return _ALIKE * (other.size_after or 0) <= (own.size_after or 0)


def _noise(result: Result) -> float | None:
    return None if result.least_db is None else -min(result.least_db, _ENOUGH_DECIBELS)


def _casts(result: Result) -> float | None:
    """Casts alone do not tell: a node without a kernel stands between two copies to the CPU."""
    if result.casts_added is None or result.off_target_added is None:
        return None
    return max(0, result.casts_added) + 2 * max(0, result.off_target_added)


def _cast_bytes(result: Result) -> float | None:
    return None if result.off_target_added else result.cast_bytes_added


def _decibels(value: float) -> str:
    return f"{-value:.1f} dB" if math.isfinite(value) else str(-value)


def _orphans(result: Result) -> float | None:
    return result.orphans


def _count(value: float) -> str:
    return f"{value:.0f}"


_Cell = tuple[str, Callable[[Result], float | None], Callable[[float], str], float]
_CELLS: tuple[_Cell, ...] = (
    (_ACCURACY, _noise, _decibels, _DECIBELS),
    ("casts and copies", _casts, _count, 0.0),
    ("cast bytes", _cast_bytes, _count, 0.0),
    ("orphan Q/DQ", _orphans, _count, 0.0),
)
