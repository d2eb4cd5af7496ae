"""The passes that a calibration still has to make."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from mpgraph import ir
from mpgraph.calibration.work import Job
from mpgraph.quant.observers import PART, Observer
from mpgraph.runtime.observation import (
    MIN_OPSET_OF_PARTS,
    ObservationPass,
    Prepared,
    ValueSize,
    plan_passes,
)

__all__ = ["Schedule"]


class Schedule:
    """Passes over the data, planned by what is known of the sizes of values.

    Args:
        prepared: The model and its values.
        sizes: Sizes of the values of the main graph on some samples.
        observer: How ranges are taken.
        budget_bytes: Bound of the arrays that leave the graph in one run.
        threads: Threads inside one operator; 0 leaves the choice to onnxruntime.

    Attributes:
        made: How many passes there were and are to come.

    Raises:
        DataError: A value is larger than the budget and cannot be reduced.
    """

    def __init__(
        self,
        prepared: Prepared,
        sizes: Mapping[str, ValueSize],
        observer: Observer,
        budget_bytes: int,
        threads: int,
    ) -> None:
        opset = ir.opset_of("", prepared.model.opset_imports) or 0
        whole_only = observer.axis is not None
        self._prepared = prepared
        self._observer = observer
        self._budget = budget_bytes
        self._threads = threads
        self._reducible = not whole_only and (
            opset >= MIN_OPSET_OF_PARTS or not observer.needs_parts
        )
        self._sizes = dict(sizes)
        self._rows = {} if whole_only else dict.fromkeys(prepared.bodies, 0)
        self._queue: deque[Job] = deque()
        self.made = 0
        passes = self._plan(self._sizes, self._rows) or [ObservationPass()]
        self._append(passes, prepared.inputs)

    def __iter__(self) -> Schedule:
        return self

    def __next__(self) -> Job:
        if not self._queue:
            raise StopIteration
        return self._queue.popleft()

    def again(self, put_off: Mapping[str, ValueSize]) -> None:
        """Plan more passes, for values that could not be observed as planned.

        Raises:
            DataError: One of them is larger than the budget and cannot be reduced.
        """
        for name, size in put_off.items():
            if name in self._rows:
                self._rows[name] = max(self._rows[name], size.bytes)
            else:
                self._sizes[name] = self._sizes[name].merge(size)
        sizes = {name: self._sizes[name] for name in put_off if name in self._sizes}
        rows = {name: self._rows[name] for name in put_off if name in self._rows}
        self._append(self._plan(sizes, rows), ())

    def _plan(
        self, sizes: Mapping[str, ValueSize], rows: Mapping[str, int]
    ) -> list[ObservationPass]:
        part = PART if self._observer.needs_parts else 0
        return plan_passes(sizes, self._budget, part=part, reducible=self._reducible, rows=rows)

    def _append(self, passes: list[ObservationPass], inputs: tuple[str, ...]) -> None:
        for one in passes:
            dtypes = self._prepared.main
            self._queue.append(
                Job(one, inputs, dtypes, self._observer, self._budget, self._threads)
            )
            inputs = ()
        self.made += len(passes)
