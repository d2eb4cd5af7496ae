"""The pieces of a calibration on the workers of an executor."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mpgraph import ir
from mpgraph.calibration.pieces import in_order, pieces
from mpgraph.calibration.work import Job, Piece, RunJob, forget, run_stored
from mpgraph.errors import ConversionError, MpgraphError
from mpgraph.runtime import DataSet

__all__ = ["spread"]

# A piece ends where either is reached.
_PIECE_SAMPLES = 8
_PIECE_BYTES = 32 * 10**6


@contextmanager
def spread(model: ir.Model, executor: Executor, workers: int | None = None) -> Iterator[RunJob]:
    """What runs the prepared model on the workers of an executor, which read it from a file.

    No more than two pieces a worker are under way, so that memory does not grow with the data.

    Raises:
        MpgraphError: What a worker raised.
        ConversionError: A worker is gone, or has another environment.
    """
    limit = 2 * (workers or getattr(executor, "_max_workers", None) or os.cpu_count() or 1)
    with tempfile.TemporaryDirectory(prefix="mpgraph-") as folder:
        path = str(Path(folder) / "model.onnx")
        ir.save(model, path)

        def run_job(job: Job, feeds: DataSet) -> Iterator[Piece]:
            def submit(first: int, samples: list[Mapping[str, Any]]) -> Future[Piece]:
                return executor.submit(run_stored, path, job, first, samples)

            yield from in_order(pieces(feeds, _PIECE_SAMPLES, _PIECE_BYTES), submit, limit, _result)

        try:
            yield run_job
        finally:
            forget(path)


def _result(future: Future[Piece]) -> Piece:
    try:
        return future.result()
    except MpgraphError:
        raise
    except Exception as error:
        raise ConversionError(
            "worker",
            f"failed with {type(error).__name__}: {error}",
            "workers need the same mpgraph and onnxruntime as here, memory for the model, and the "
            "folder for temporary files",
        ) from error
