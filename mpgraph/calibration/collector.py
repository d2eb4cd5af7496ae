"""Adds what was observed to one accumulator per value."""

from __future__ import annotations

from typing import Any

import numpy as np

from mpgraph.quant.observers import PART, Accumulator, Observer, summarize_part
from mpgraph.runtime.observation import Observed, Reduced

__all__ = ["Collector"]

# Small arrays are kept until there are so many bytes of them, and then added up together.
_PENDING_BYTES = 1 << 20


class Collector:
    """The accumulators of the values of a few samples.

    Args:
        observer: How ranges are taken.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._found: dict[str, Accumulator] = {}
        self._pending: dict[str, list[np.ndarray[Any, Any]]] = {}
        self._bytes = 0
        self._together = not observer.in_order and observer.axis is None

    def add(self, name: str, seen: Observed, sample: int) -> None:
        """Add what one run showed of one value."""
        if isinstance(seen, Reduced):
            summary = summarize_part(
                seen.count, seen.nonfinite, seen.low, seen.high, seen.part, seen.step
            )
            self._accumulator(name).add(summary, sample)
        elif self._together and seen.size <= PART:
            self._keep(name, seen)
        else:
            self._accumulator(name).update(seen, sample)

    def finish(self) -> dict[str, Accumulator]:
        """The accumulators by observed value."""
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
                self._accumulator(name).update(joined[start : start + PART])
        self._pending.clear()
        self._bytes = 0

    def _accumulator(self, name: str) -> Accumulator:
        if name not in self._found:
            self._found[name] = self._observer.accumulator()
        return self._found[name]
