"""Second moments of activations: what rounding of weights looks at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpgraph import ir
from mpgraph.errors import DataError
from mpgraph.runtime import DataSet, run
from mpgraph.runtime.compare import for_session
from mpgraph.runtime.exposure import with_outputs
from mpgraph.runtime.faithful import faithful, faithful_session

__all__ = ["Sought", "second_moments"]

_ROWS = 1 << 12
_SHARE = 0.5
"""The share of the memory that moments may take; the rest is for what the model returns."""


@dataclass(frozen=True, slots=True)
class Sought:
    """An activation whose second moments are wanted.

    Attributes:
        name: The name of a value of the main graph.
        channels: How many channels it has.
        axis: The axis along which they run; the last one, or the one before it.
    """

    name: str
    channels: int
    axis: int = -1


def second_moments(
    model: ir.Model, data: DataSet, sought: Iterable[Sought], memory: int
) -> Iterator[Mapping[Sought, NDArray[np.float32]]]:
    """Run a model and sum x x^T over all rows of some activations, batch by batch.

    Each batch holds moments of at most half of ``memory``, and runs the model over all data once.
    Rows with NaN or infinity are left out.

    Args:
        model: The model.
        data: Feeds for it.
        sought: The activations.
        memory: A bound in bytes.

    Raises:
        DataError: The moments of one activation are larger than that bound.
    """
    runnable = faithful(model)
    for batch in _batches(sought, int(memory * _SHARE)):
        sums = {one: np.zeros((one.channels, one.channels), np.float32) for one in batch}
        inputs = {value.name for value in runnable.graph.inputs}
        names = list(dict.fromkeys(one.name for one in batch if one.name not in inputs))
        with with_outputs(runnable, names):
            session = faithful_session(runnable)
        for feed in data:
            given = for_session(session, feed)
            got = run(session, given, names) if names else {}
            for one in batch:
                _add(sums[one], got.get(one.name, given.get(one.name)), one)
        yield sums


def _batches(sought: Iterable[Sought], bound: int) -> Iterator[list[Sought]]:
    batch: list[Sought] = []
    total = 0
    for one in dict.fromkeys(sought):
        size = 4 * one.channels * one.channels
        if size > bound:
            rule = f"its second moments take {size} bytes, above the bound of {bound}"
            raise DataError(f"value {one.name!r}", rule, "allow more memory")
        if batch and total + size > bound:
            yield batch
            batch, total = [], 0
        batch.append(one)
        total += size
    if batch:
        yield batch


def _add(total: NDArray[np.float32], value: Any, one: Sought) -> None:
    if value is None:
        return
    array = np.moveaxis(np.asarray(value), one.axis, -1).reshape(-1, one.channels)
    for start in range(0, len(array), _ROWS):
        rows = array[start : start + _ROWS].astype(np.float32)
        rows = rows[np.isfinite(rows).all(axis=1)]
        total += rows.T @ rows
