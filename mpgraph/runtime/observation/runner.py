"""Runs the samples of one pass and hands out the values that it observes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mpgraph import ir
from mpgraph.runtime.bound import Feed
from mpgraph.runtime.compare import for_session
from mpgraph.runtime.emulate import MARK
from mpgraph.runtime.observation.bodies import add_body_rows, rows_of
from mpgraph.runtime.observation.observed import Observed, Reduced
from mpgraph.runtime.observation.outputs import ReducedOutputs, add_reductions
from mpgraph.runtime.observation.passes import ObservationPass
from mpgraph.runtime.observation.probe import is_suspicious
from mpgraph.runtime.sessions import create_session, run
from mpgraph.runtime.survival import emulated_session

__all__ = ["Runner"]


@dataclass(frozen=True)
class _Session:
    session: Any
    whole: tuple[str, ...]
    reduced: ReducedOutputs
    rows: Mapping[str, str]


class Runner:
    """One pass over any samples; ``run`` may be called from several threads.

    Args:
        model: The prepared model; it is not changed.
        dtypes: Dtypes of the values of the main graph in it.
        one: The pass.
        budget_bytes: Bound of the arrays that leave the graph in one run.
        part: Elements kept of a value that is reduced in the graph.
        limit: Elements from this magnitude on are not ordinary: where one is met in a value that
            is reduced, the whole array is handed out instead.
        threads: Threads inside one operator; 0 leaves the choice to onnxruntime.

    Attributes:
        largest: Most bytes that left the graph in one run.

    Raises:
        VerificationError: The model does not load.
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
        self._budget = budget_bytes
        self._part = part
        self._limit = limit
        self._threads = threads
        self._sessions: tuple[_Session, ...] = ()
        if one.whole or one.reduced or one.bodies:
            self._sessions = (self._session(one),)
        self._revealing: dict[str, _Session] = {}
        self.largest = 0

    def run(self, feed: Feed) -> Iterator[tuple[str, Observed]]:
        """Run one sample; yields the values as they are found, some of them several times.

        Raises:
            VerificationError: onnxruntime fails while it runs the model.
        """
        for one in self._sessions:
            yield from self._run_one(one, feed)

    def _run_one(self, one: _Session, feed: Feed) -> Iterator[tuple[str, Observed]]:
        got = run(one.session, for_session(one.session, feed))
        self._note(one, {name: got[name] for name in one.whole})
        suspects = []
        for name, reduced in self._reductions(one.reduced, got):
            if reduced is None:
                suspects.append(name)
            else:
                yield name, reduced
        for name in one.whole:
            yield name, got.pop(name)
        for name, output in one.rows.items():
            for seen in rows_of(got.pop(output)):
                yield name, seen
        # One by one, because each of them was too large to stand beside the others.
        for name in suspects:
            session = self._revealer(name)
            yield name, run(session, for_session(session, feed))[name]

    def _reductions(
        self, reduced: ReducedOutputs, got: Mapping[str, Any]
    ) -> Iterator[tuple[str, Reduced | None]]:
        """What each reduced value holds; None where the whole array has to be looked at."""
        if not reduced.names:
            return
        rows = got[reduced.summaries].reshape(len(reduced.names), -1).tolist()
        counts = got[reduced.counts].tolist()
        none = np.zeros(0, np.float32)
        for name, row, count in zip(reduced.names, rows, counts, strict=True):
            if is_suspicious(row, count, self._limit):
                yield name, None
                continue
            part = got[reduced.parts[name]] if name in reduced.parts else none
            low, high = (row[0], row[1]) if count else (math.inf, -math.inf)
            yield name, Reduced(count, 0, low, high, part)

    def _note(self, one: _Session, arrays: Mapping[str, Any]) -> None:
        """Where later samples turn out larger than the budget, return fewer values a run."""
        total = sum(array.nbytes for array in arrays.values())
        self.largest = max(self.largest, total)
        if total <= self._budget or len(arrays) < 2 or one not in self._sessions:
            return
        first: list[str] = []
        taken = 0
        for name in one.whole[:-1]:
            if first and taken + arrays[name].nbytes > total / 2:
                break
            first.append(name)
            taken += arrays[name].nbytes
        rest = one.whole[len(first) :]
        halves = (
            self._session(ObservationPass(tuple(first), one.reduced.names, tuple(one.rows))),
            self._session(ObservationPass(rest)),
        )
        others = tuple(each for each in self._sessions if each is not one)
        self._sessions = (*others, *halves)

    def _revealer(self, name: str) -> Any:
        if name not in self._revealing:
            self._revealing[name] = self._session(ObservationPass((name,)))
        return self._revealing[name].session

    def _session(self, one: ObservationPass) -> _Session:
        copy = ir.clone(self._model)
        kept = {name: self._dtypes[name] for name in one.whole}
        dtypes = {name: self._dtypes[name] for name in one.reduced}
        outputs = add_reductions(copy, dtypes, part=self._part, keep=kept)
        rows = add_body_rows(copy, one.bodies)
        return _Session(self._open(copy, bool(one.reduced)), one.whole, outputs, rows)

    def _open(self, model: ir.Model, reduces: bool) -> Any:
        if any(node.name and node.name.startswith(MARK) for node in ir.nodes(model)):
            return emulated_session(model)
        return create_session(model, threads=self._threads, shapes_first=reduces)
