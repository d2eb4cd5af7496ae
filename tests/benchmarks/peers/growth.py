"""How time and memory grow along a ladder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tests.benchmarks.peers.result import Result
from tests.benchmarks.peers.subjects import LADDERS

__all__ = ["Growth", "exponent", "growths"]


@dataclass(frozen=True)
class Growth:
    """One tool and policy along one ladder.

    Attributes:
        suite, tool, policy: Which.
        rungs: How many sizes were converted.
        right: How many of them came out right.
        exponent: Of the time over the size, between the least and the greatest; NaN for one size.
        memory_ratio: Greatest over least peak memory.
        largest: The greatest size that was converted.
    """

    suite: str
    tool: str
    policy: str
    rungs: int
    right: int
    exponent: float
    memory_ratio: float
    largest: int


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The slope of log(seconds) over log(sizes), by least squares; NaN below two sizes."""
    if len(set(sizes)) < 2:
        return float("nan")
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def growths(results: Iterable[Result]) -> list[Growth]:
    """The growth of every tool and policy on every ladder."""
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        if result.suite in LADDERS:
            groups.setdefault((result.suite, result.tool, result.policy), []).append(result)
    return [_growth(key, sorted(group, key=_size)) for key, group in groups.items()]


def _growth(key: tuple[str, str, str], group: list[Result]) -> Growth:
    # A wrong model takes its time too.
    ended = [one for one in group if one.seconds]
    peaks = [one.peak_bytes for one in ended if one.peak_bytes]
    return Growth(
        *key,
        rungs=len(ended),
        right=sum(one.verdict == "right" for one in ended),
        exponent=exponent([_size(one) for one in ended], [one.seconds or 0.0 for one in ended]),
        memory_ratio=max(peaks) / min(peaks) if peaks else float("nan"),
        largest=max(map(_size, ended), default=0),
    )


def _size(result: Result) -> int:
    return result.size or 0
