"""Runs the samples of one pass and hands out the values that it observes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from mpgraph import ir
from mpgraph.runtime.bound import Feed
from mpgraph.runtime.compare import for_session
from mpgraph.runtime.emulate import MARK
from mpgraph.runtime.observation.bodies import add_body_rows, rows_of
from mpgraph.runtime.observation.observed import Observed, Reduced, odd_step
from mpgraph.runtime.observation.outputs import ReducedOutputs, add_reductions
from mpgraph.runtime.observation.passes import ObservationPass
from mpgraph.runtime.observation.probe import ValueSize, is_suspicious
from mpgraph.runtime.sessions import create_session, run
from mpgraph.runtime.survival import emulated_session

__all__ = ["Runner"]


@dataclass(frozen=True)
class _Session:
    """A session, and the names of its outputs by the values that they show."""

    session: Any
    whole: tuple[str, ...]
    reduced: ReducedOutputs
    rows: Mapping[str, str]


class Runner:
    """One pass over any samples; ``run`` may be called from several threads.

    A value is put off where this pass is not the one for it: where it is reduced and an element
    turns up that is not ordinary, or where a later sample is so large that values of this pass do
    not fit into the budget together. What was handed out of such a value before is void.

    Args:
        model: The prepared model; it is not changed.
        dtypes: Dtypes of the values of the main graph in it.
        one: The pass.
        budget_bytes: Bound of the arrays that leave the graph in one run.
        part: Elements kept of a value that is reduced in the graph.
        limit: Elements from this magnitude on are not ordinary.
        threads: Threads inside one operator; 0 leaves the choice to onnxruntime.
    """

    def __init__(
        self,
        model: ir.Model,
        dtypes: Mapping[str, ir.DataType],
        one: ObservationPass,
        *,
        budget_bytes: int,
        part: int,
        limit: float,
        threads: int = 0,
    ) -> None:
        self._model = model
        self._dtypes = dtypes
        self._pass = one
        self._budget = budget_bytes
        self._part = part
        self._limit = limit
        self._threads = threads
        self._lock = Lock()
        self._put_off: dict[str, ValueSize] = {}
        self._session: _Session | None = None

    @property
    def put_off(self) -> dict[str, ValueSize]:
        """Values that another pass has to observe, with what was learned of their sizes."""
        with self._lock:
            return dict(self._put_off)

    def run(self, feed: Feed) -> Iterator[tuple[str, Observed]]:
        """Run one sample; yields the values as they are found, some of them several times.

        Raises:
            VerificationError: onnxruntime does not load or run the model.
        """
        one = self._current()
        if one is None:
            return
        got = run(one.session, for_session(one.session, feed))
        self._check_budget(one, got)
        for name, reduced in self._reductions(one.reduced, got):
            if name not in self._put_off:
                yield name, reduced
        for name in one.whole:
            array = got.pop(name)
            if name not in self._put_off:
                yield name, array
        for name, output in one.rows.items():
            rows = got.pop(output)
            if name not in self._put_off:
                for seen in rows_of(rows):
                    yield name, seen

    def _reductions(
        self, reduced: ReducedOutputs, got: Mapping[str, Any]
    ) -> Iterator[tuple[str, Reduced]]:
        if not reduced.names:
            return
        rows = got[reduced.summaries].reshape(len(reduced.names), -1).tolist()
        counts = got[reduced.counts].tolist()
        none = np.zeros(0, np.float32)
        for name, row, count in zip(reduced.names, rows, counts, strict=True):
            if is_suspicious(row, count, self._limit):
                size = math.ceil(count * self._dtypes[name].itemsize)
                self._postpone({name: ValueSize(size, reducible=False)})
                continue
            part = got[reduced.parts[name]] if name in reduced.parts else none
            low, high = (row[0], row[1]) if count else (math.inf, -math.inf)
            yield name, Reduced(count, 0, low, high, part, odd_step(count, self._part))

    def _check_budget(self, one: _Session, got: Mapping[str, Any]) -> None:
        """Where a sample is larger than planned for, go on with the values that fit."""
        sizes = {name: got[name].nbytes for name in one.whole}
        sizes |= {name: got[output].nbytes for name, output in one.rows.items()}
        left = self._budget - sum(got[part].nbytes for part in one.reduced.parts.values())
        too_large: dict[str, ValueSize] = {}
        for name, size in sizes.items():
            if size > left:
                too_large[name] = ValueSize(size)
            else:
                left -= size
        if too_large:
            self._postpone(too_large)
            with self._lock:
                # The next sample opens another one; two at once would hold the weights twice.
                self._session = None

    def _postpone(self, sizes: Mapping[str, ValueSize]) -> None:
        with self._lock:
            for name, size in sizes.items():
                self._put_off[name] = self._put_off.get(name, size).merge(size)

    def _current(self) -> _Session | None:
        """The session for what is left of the pass; None where nothing is."""
        with self._lock:
            if self._session is None:
                one = self._pass.without(self._put_off)
                self._session = self._open(one) if one.names else None
            return self._session

    def _open(self, one: ObservationPass) -> _Session:
        copy = ir.clone(self._model)
        kept = {name: self._dtypes[name] for name in one.whole}
        dtypes = {name: self._dtypes[name] for name in one.reduced}
        outputs = add_reductions(copy, dtypes, part=self._part, keep=kept)
        rows = add_body_rows(copy, one.bodies)
        return _Session(self._created(copy, bool(one.reduced)), one.whole, outputs, rows)

    def _created(self, model: ir.Model, reduces: bool) -> Any:
        if any(node.name and node.name.startswith(MARK) for node in ir.nodes(model)):
            return emulated_session(model, threads=self._threads)
        return create_session(model, threads=self._threads, shapes_first=reduces)
