"""One piece of a calibration: a few samples of one pass, in this process or another one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from mpgraph import ir
from mpgraph.calibration.collector import Collector
from mpgraph.quant.observers import ORDINARY_BELOW, PART, Accumulator, Observer
from mpgraph.runtime import DataSet
from mpgraph.runtime.observation import ObservationPass, Runner, ValueSize

__all__ = ["Job", "Piece", "RunJob", "forget", "open_runner", "run_piece", "run_stored"]

# Sessions that a worker keeps: those of the pass that ends and of the one that begins.
_KEPT = 2


@dataclass(frozen=True, slots=True)
class Job:
    """What all pieces of one pass share; small, and fit to be sent.

    Attributes:
        one: The pass.
        inputs: Inputs of the model to observe in this pass.
        dtypes: Dtypes of the values of the main graph.
        observer: How ranges are taken.
        budget_bytes: Bound of the arrays that leave the graph in one run.
        threads: Threads inside one operator; 0 leaves the choice to onnxruntime.
    """

    one: ObservationPass
    inputs: tuple[str, ...]
    dtypes: Mapping[str, ir.DataType]
    observer: Observer
    budget_bytes: int
    threads: int = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """What one piece found.

    Attributes:
        accumulators: By observed value.
        samples: How many samples were run.
        put_off: Values that another pass has to observe, with what was learned of their sizes.
    """

    accumulators: Mapping[str, Accumulator]
    samples: int
    put_off: Mapping[str, ValueSize]


RunJob = Callable[[Job, DataSet], Iterator[Piece]]
"""Runs one pass over all samples; pieces come in the order of the samples."""


def open_runner(model: ir.Model, job: Job) -> Runner:
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
    """Observe some samples, given with their indices."""
    collector = Collector(job.observer)
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
    return Piece(collector.finish(), count, runner.put_off)


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


def forget(path: str) -> None:
    """Close the sessions that this process keeps for a file."""
    with _lock:
        for key in [key for key in _runners if key[0] == path]:
            del _runners[key]


_lock = Lock()
_runners: OrderedDict[tuple[str, ObservationPass], Runner] = OrderedDict()


def _stored_runner(path: str, job: Job) -> Runner:
    key = (path, job.one)
    with _lock:
        if key not in _runners:
            _runners[key] = open_runner(ir.load(path), job)
            while len(_runners) > _KEPT:
                _runners.popitem(last=False)
        _runners.move_to_end(key)
        return _runners[key]
