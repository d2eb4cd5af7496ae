"""Interleaved timing: what disturbs the machine disturbs all models alike."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from mpgraph import ir

__all__ = ["Call", "Clock", "Opener", "Report", "Samples", "interleave"]

Call: TypeAlias = Callable[[], object]
"""Runs a model once on one feed."""
Opener: TypeAlias = Callable[[], Sequence[Call]]
"""Creates a session of a model; one call per feed."""
Clock: TypeAlias = Callable[[], float]
"""The time in seconds, from any start."""
Report: TypeAlias = Callable[[str, int, int], None]
"""Takes what begins, how much of the work is done, and how much there is."""

_WARMUPS = 3
# A sample this long is far above the resolution and the cost of the clock.
_SAMPLE_SECONDS = 1e-3
_MOST_RUNS = 1000
_FEWEST_ROUNDS, _MOST_ROUNDS = 5, 500


@dataclass(frozen=True, slots=True)
class Samples:
    """Measured times.

    Attributes:
        times: Seconds per run, [sets of sessions, rounds, models].
        loads: Seconds to create a session, [sets of sessions, models].
        runs: How many runs in a row made one sample, per model.
    """

    times: np.ndarray[Any, Any]
    loads: np.ndarray[Any, Any]
    runs: tuple[int, ...]


def interleave(
    openers: Sequence[Opener],
    *,
    sets: int,
    seconds: float,
    clock: Clock = time.perf_counter,
    report: Report | None = None,
) -> Samples:
    """Time models against each other.

    Every set has a new session of each model. After a warm-up, each round runs every model, in an
    order drawn anew, all on the same feed; the next round takes the next feed. A model that is
    done in less than a millisecond runs several times in a row for one sample.

    Args:
        openers: One per model.
        sets: How many sets of sessions.
        seconds: About how long all rounds take together; at least 5 rounds per set are run.
        clock: What tells the time.
        report: Told before every set.
    """
    generator = np.random.default_rng(0)
    times: list[np.ndarray[Any, Any]] = []
    loads = np.zeros((sets, len(openers)))
    runs: tuple[int, ...] = ()
    rounds = 0
    for number in range(sets):
        if report is not None:
            report(f"sessions {number + 1} of {sets}", number, sets)
        models: list[Sequence[Call]] = [()] * len(openers)
        for place in generator.permutation(len(openers)):
            start = clock()
            models[place] = openers[place]()
            loads[number, place] = clock() - start
        with ir.paused_gc():
            single = [_warm(calls, clock) for calls in models]
            if not runs:
                runs = tuple(_runs(one) for one in single)
                one_round = sum(one * count for one, count in zip(single, runs, strict=True))
                rounds = _rounds(seconds / sets, one_round)
            times.append(_one_set(models, runs, rounds, generator, clock))
    return Samples(np.stack(times), loads, runs)


def _one_set(
    models: Sequence[Sequence[Call]],
    runs: Sequence[int],
    rounds: int,
    generator: np.random.Generator,
    clock: Clock,
) -> np.ndarray[Any, Any]:
    times = np.zeros((rounds, len(models)))
    for number in range(rounds):
        for place in generator.permutation(len(models)):
            call = models[place][number % len(models[place])]
            repeat = range(runs[place])
            start = clock()
            for _ in repeat:
                call()
            times[number, place] = (clock() - start) / runs[place]
    return times


def _warm(calls: Sequence[Call], clock: Clock) -> float:
    """Run every feed once, the first more often; the seconds of the last run."""
    taken = 0.0
    for call in (*calls, *[calls[0]] * _WARMUPS):
        start = clock()
        call()
        taken = clock() - start
    return taken


def _runs(single: float) -> int:
    if single <= 0:
        return _MOST_RUNS
    return min(_MOST_RUNS, max(1, math.ceil(_SAMPLE_SECONDS / single)))


def _rounds(seconds: float, one_round: float) -> int:
    if one_round <= 0:
        return _MOST_ROUNDS
    return min(_MOST_ROUNDS, max(_FEWEST_ROUNDS, round(seconds / one_round)))
