"""The pieces of a calibration on the workers of an executor."""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from mpgraph import ir
from mpgraph.calibration.work import Job, Piece, run_stored
from mpgraph.runtime import DataSet

__all__ = ["run_spread"]

# A piece ends where either is reached.
_PIECE_SAMPLES = 8
_PIECE_BYTES = 32 * 10**6


def run_spread(
    model: ir.Model,
    jobs: Iterable[Job],
    feeds: DataSet,
    executor: Executor,
    workers: int | None = None,
) -> Iterator[Piece]:
    """Run every pass over all samples; pieces come back in their order.

    No more than two pieces a worker are under way, so that memory does not grow with the data.

    Raises:
        MpgraphError: What a worker raised.
    """
    limit = 2 * (workers or getattr(executor, "_max_workers", None) or os.cpu_count() or 1)
    with tempfile.TemporaryDirectory(prefix="mpgraph-") as folder:
        path = Path(folder) / "model.onnx"
        ir.save(model, path)
        under_way: deque[Future[Piece]] = deque()
        try:
            for job in jobs:
                for first, samples in _pieces(feeds):
                    under_way.append(executor.submit(run_stored, str(path), job, first, samples))
                    while len(under_way) >= limit:
                        yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()


def _pieces(feeds: DataSet) -> Iterator[tuple[int, list[Mapping[str, Any]]]]:
    piece: list[Mapping[str, Any]] = []
    size = first = 0
    for index, feed in enumerate(feeds):
        piece.append(feed)
        size += feed_bytes(feed)
        if len(piece) >= _PIECE_SAMPLES or size >= _PIECE_BYTES:
            yield first, piece
            piece, size, first = [], 0, index + 1
    if piece:
        yield first, piece


def feed_bytes(feed: Mapping[str, Any]) -> int:
    """Bytes of the arrays of a feed."""
    values = [one if isinstance(one, list) else [one] for one in feed.values()]
    return sum(array.nbytes for arrays in values for array in arrays if array is not None)
