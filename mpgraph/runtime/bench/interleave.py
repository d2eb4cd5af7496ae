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
# How much of the time may go into warm-up; what is needed at least does anyway.
_WARM_SHARE = 0.1
# A sample this long is far above the resolution and the cost of the clock.
_SAMPLE_SECONDS = 1e-3
_MOST_RUNS = 1000
_MOST_ROUNDS = 500


@dataclass(frozen=True, slots=True)
class Samples:
    """Measured times.

    Attributes:
        times: Seconds per run, [sets of sessions, rounds, models].
        loads: Seconds to create a session, [sets of sessions, models].
        runs: How many runs in a row made one sample, per model.
        spent: Seconds that all runs took, those of the warm-up included.
    """

    times: np.ndarray[Any, Any]
    loads: np.ndarray[Any, Any]
    runs: tuple[int, ...]
    spent: float


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

    The time is kept as closely as single runs allow. At least, each model runs twice to warm up in
    the first set and once in the others, and then one round is run.

    Args:
        openers: One per model.
        sets: How many sets of sessions.
        seconds: How long all runs take together, without the creation of sessions.
        clock: What tells the time.
        report: Told before every set.
    """
    generator = np.random.default_rng(0)
    times: list[np.ndarray[Any, Any]] = []
    loads = np.zeros((sets, len(openers)))
    runs: tuple[int, ...] = ()
    rounds = 0
    spent = 0.0
    warm_seconds = _WARM_SHARE * seconds / sets / len(openers)
    for number in range(sets):
        if report is not None:
            report(f"sessions {number + 1} of {sets}", number, sets)
        models: list[Sequence[Call]] = [()] * len(openers)
        for place in generator.permutation(len(openers)):
            start = clock()
            models[place] = openers[place]()
            loads[number, place] = clock() - start
        with ir.paused_gc():
            start = clock()
            single = [
                _warm(calls, clock, warm_seconds, fewest=1 if runs else 2) for calls in models
            ]
            if not runs:
                runs = tuple(_runs(one) for one in single)
                one_round = sum(one * count for one, count in zip(single, runs, strict=True))
                later = (sets - 1) * min(
                    clock() - start, sum(single) + _WARM_SHARE * seconds / sets
                )
                rounds = _rounds((seconds - (clock() - start) - later) / sets, one_round)
            times.append(_one_set(models, runs, rounds, generator, clock))
            spent += clock() - start
    return Samples(np.stack(times), loads, runs, spent)


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


def _warm(calls: Sequence[Call], clock: Clock, seconds: float, fewest: int) -> float:
    """Run the first feed, all others once, then the first again, as far as the time allows.

    Args:
        calls: One per feed.
        clock: What tells the time.
        seconds: When to stop.
        fewest: So many runs are made in any case.

    Returns:
        The seconds of the last run of the first feed.
    """
    first = calls[0]
    begin = clock()
    single = 0.0
    for count, call in enumerate((first, first, *calls[1:], *[first] * (_WARMUPS - 1))):
        start = clock()
        if count >= fewest and start - begin > seconds:
            break
        call()
        if call is first:
            single = clock() - start
    return single


def _runs(single: float) -> int:
    if single <= 0:
        return _MOST_RUNS
    return min(_MOST_RUNS, max(1, math.ceil(_SAMPLE_SECONDS / single)))


def _rounds(seconds: float, one_round: float) -> int:
    if one_round <= 0:
        return _MOST_ROUNDS
    return min(_MOST_ROUNDS, max(1, int(seconds / one_round)))
