"""Adds what was observed to one accumulator per value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mpgraph.quant.observers import (
    ORDINARY_BELOW,
    PART,
    Accumulator,
    Observer,
    Summary,
    summarize,
    thinned,
)
from mpgraph.runtime.observation import Observed, Reduced

__all__ = ["Collector"]

# Small arrays are kept until there are so many bytes of them, and then added up together.
_PENDING_BYTES = 1 << 20


class Collector:
    """The accumulators of the values of a few samples.

    Args:
        observer: How ranges are taken.
        origins: Observed value -> the values under which it is collected.
    """

    def __init__(self, observer: Observer, origins: Mapping[str, tuple[str, ...]]) -> None:
        self._observer = observer
        self._origins = origins
        self._found: dict[str, Accumulator] = {}
        self._pending: dict[str, list[np.ndarray[Any, Any]]] = {}
        self._bytes = 0
        self._together = not observer.in_order and observer.axis is None

    def add(self, name: str, seen: Observed, sample: int) -> None:
        """Add what one run showed of one value."""
        if isinstance(seen, Reduced):
            summary = _summary(seen)
            for one in self._accumulators(name):
                one.add(summary, sample)
        elif self._together and seen.size <= PART:
            self._keep(name, seen)
        else:
            self._update(name, seen, sample)

    def finish(self) -> dict[str, Accumulator]:
        """The accumulators by value name."""
        self._flush()
        return self._found

    def _keep(self, name: str, array: np.ndarray[Any, Any]) -> None:
        self._pending.setdefault(name, []).append(array.reshape(-1))
        # An entry of a list costs something too, also for an empty array.
        self._bytes += array.nbytes + 128
        if self._bytes > _PENDING_BYTES:
            self._flush()

    def _flush(self) -> None:
        for name, arrays in self._pending.items():
            joined = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
            # No more at a time than what enters a histogram whole.
            for start in range(0, max(joined.size, 1), PART):
                self._update(name, joined[start : start + PART], 0)
        self._pending.clear()
        self._bytes = 0

    def _update(self, name: str, array: np.ndarray[Any, Any], sample: int) -> None:
        if self._observer.axis is not None:
            for one in self._accumulators(name):
                one.update(array, sample)
            return
        summary = summarize(array)
        for one in self._accumulators(name):
            one.add(summary, sample)

    def _accumulators(self, name: str) -> list[Accumulator]:
        origins = self._origins[name]
        for origin in origins:
            if origin not in self._found:
                self._found[origin] = self._observer.accumulator()
        return [self._found[origin] for origin in origins]


def _summary(seen: Reduced) -> Summary:
    if seen.nonfinite == 0 and seen.low > -ORDINARY_BELOW and seen.high < ORDINARY_BELOW:
        return Summary(seen.count, 0, seen.low, seen.high, part=thinned(seen.part))
    # The elements that were kept and the extremes stand for all.
    ends = np.array([seen.low, seen.high])
    rest = summarize(np.concatenate([seen.part, ends[np.isfinite(ends)]]))
    return Summary(seen.count, seen.nonfinite, rest.low, rest.high, rest.bands, rest.part)
