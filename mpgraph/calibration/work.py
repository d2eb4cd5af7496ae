"""One piece of a calibration: a few samples of one pass, in this process or another one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from mpgraph import ir
from mpgraph.calibration.collector import Collector
from mpgraph.quant.observers import ORDINARY_BELOW, PART, Accumulator, Observer
from mpgraph.runtime.observation import ObservationPass, Runner

__all__ = ["Job", "Piece", "run_piece", "run_stored"]

_KEPT = 2


@dataclass(frozen=True, slots=True)
class Job:
    """What all pieces of one pass share; small, and fit to be sent.

    Attributes:
        one: The pass.
        inputs: Inputs of the model to observe in this pass.
        dtypes: Dtypes of the values of the main graph.
        origins: Observed value -> the values under which it is collected.
        observer: How ranges are taken.
        budget_bytes: Bound of the arrays that leave the graph in one run.
        threads: Threads inside one operator; 0 leaves the choice to onnxruntime.
    """

    one: ObservationPass
    inputs: tuple[str, ...]
    dtypes: Mapping[str, ir.DataType]
    origins: Mapping[str, tuple[str, ...]]
    observer: Observer
    budget_bytes: int
    threads: int = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """What one piece found.

    Attributes:
        accumulators: By value name.
        samples: How many samples were run.
        largest: Most bytes that left the graph in one run.
    """

    accumulators: Mapping[str, Accumulator]
    samples: int
    largest: int


def make_runner(model: ir.Model, job: Job) -> Runner:
    """The runner of a pass over the prepared model."""
    return Runner(
        model,
        job.dtypes,
        job.one,
        budget_bytes=job.budget_bytes,
        part=PART if job.observer.needs_parts else 0,
        limit=ORDINARY_BELOW,
        threads=job.threads,
    )


def run_piece(runner: Runner, job: Job, samples: Iterable[tuple[int, Mapping[str, Any]]]) -> Piece:
    """Observe some samples, given with their indices.

    Raises:
        VerificationError: onnxruntime fails while it runs the model.
    """
    collector = Collector(job.observer, job.origins)
    count = 0
    for index, feed in samples:
        count += 1
        for name in job.inputs:
            given = feed.get(name)
            for array in given if isinstance(given, list) else [given]:
                if isinstance(array, np.ndarray):
                    collector.add(name, array, index)
        for name, seen in runner.run(feed):
            collector.add(name, seen, index)
    return Piece(collector.finish(), count, runner.largest)


def run_stored(path: str, job: Job, first: int, feeds: list[Mapping[str, Any]]) -> Piece:
    """Observe some samples with the model in a file; sessions are kept for the next piece.

    Args:
        path: The prepared model, in a folder that every worker can read and that no other job
            ever uses.
        job: The pass.
        first: Index of the first sample.
        feeds: The samples.

    Raises:
        ModelFileError: The file cannot be read here.
        VerificationError: onnxruntime does not load or run the model.
    """
    return run_piece(_stored_runner(path, job), job, enumerate(feeds, first))


_lock = Lock()
_runners: OrderedDict[tuple[str, ObservationPass], Runner] = OrderedDict()


def _stored_runner(path: str, job: Job) -> Runner:
    key = (path, job.one)
    # Held while a session is made: two threads would make the same one.
    with _lock:
        if key not in _runners:
            _runners[key] = make_runner(ir.load(path), job)
            while len(_runners) > _KEPT:
                _runners.popitem(last=False)
        _runners.move_to_end(key)
        return _runners[key]
