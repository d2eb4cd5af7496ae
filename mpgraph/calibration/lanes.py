"""The samples of a calibration in this process, several side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from mpgraph import ir
from mpgraph.calibration.pieces import in_order, pieces
from mpgraph.calibration.work import Job, Piece, RunJob, open_runner, run_piece
from mpgraph.runtime import DataSet
from mpgraph.runtime.cores import usable_cores

__all__ = ["here", "in_lanes"]

# More gain little, and each holds the activations of its sample.
_MOST_LANES = 8
_PIECE_SAMPLES = 4
_PIECE_BYTES = 4 * 10**6


def here(model: ir.Model, samples: int) -> RunJob:
    """Runs so many samples of the prepared model in this process.

    A thread that takes a sample through inference and statistics alone wastes less than several
    that share the operators of one sample and then wait for the statistics.
    """

    def run_job(job: Job, feeds: DataSet) -> Iterator[Piece]:
        lanes, each = in_lanes(job, samples, usable_cores())
        runner = open_runner(model, each)
        size = min(max(samples // lanes, 1), _PIECE_SAMPLES)
        with ThreadPoolExecutor(lanes) as pool:

            def submit(first: int, feeds: list[Mapping[str, Any]]) -> Future[Piece]:
                return pool.submit(run_piece, runner, each, enumerate(feeds, first))

            yield from in_order(pieces(feeds, size, _PIECE_BYTES), submit, 2 * lanes)

    return run_job


def in_lanes(job: Job, samples: int, cores: int) -> tuple[int, Job]:
    """In how many lanes a job runs, and what each lane has of its budget and threads.

    There is a lane for each thread, but only as many as have a sample, and as the budget holds
    what leaves the model in one run. Threads that are left help inside operators.
    """
    threads = job.threads or cores
    held = job.budget_bytes // max(job.one.bytes, 1)
    lanes = max(min(threads, samples, held, _MOST_LANES), 1)
    if lanes == 1:
        return 1, job
    return lanes, replace(job, threads=threads - lanes + 1, budget_bytes=job.budget_bytes // lanes)
