"""Runs a model on data and keeps a few rows of its activations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from mpgraph import ir
from mpgraph.calibration.job import value_sizes
from mpgraph.calibration.memory import parse_memory
from mpgraph.quant.observers import ORDINARY_BELOW
from mpgraph.quant.tuning import ActivationRows, Rows
from mpgraph.runtime import DataSet
from mpgraph.runtime.observation import Prepared, Runner, ValueSize, plan_passes, prepare

__all__ = ["capture_rows", "observed_values"]

Array = np.ndarray[Any, Any]


def capture_rows(
    model: ir.Model,
    feeds: DataSet,
    values: Iterable[str],
    *,
    rows: int = 128,
    samples: int = 16,
    memory: str | int = "512MB",
) -> ActivationRows:
    """Keep rows, vectors along the last axis, of some values of the main graph.

    Args:
        model: The model; it is not changed.
        feeds: What to run on.
        values: Names of float32 values.
        rows: Keep about so many rows of each value, evenly spaced.
        samples: Run at most so many samples.
        memory: Bound of the arrays that leave the model in one run; several passes are made where
            they do not fit together.

    Raises:
        DataError: A value is larger than ``memory`` by itself.
        VerificationError: The model does not load or run.
    """
    names = list(dict.fromkeys(values))
    prepared = prepare(model, names)
    reached = (*prepared.inputs, *prepared.main)
    chosen = [name for name in reached if prepared.origins.get(name) == (name,)]
    count, sizes = value_sizes(prepared, feeds)
    budget = parse_memory(memory)
    each = max(-(-rows // max(min(count, samples), 1)), 1)
    kept = {name: _Kept(each) for name in chosen}
    for name, array in observed_values(prepared, feeds, sizes, budget, samples):
        if name in kept:
            kept[name].add(array)
    found = {name: one.finish() for name, one in kept.items()}
    missing = {name: "it is not computed in the main graph" for name in names if name not in kept}
    missing |= {name: kept[name].problem for name, one in found.items() if one is None}
    return ActivationRows({name: one for name, one in found.items() if one is not None}, missing)


def observed_values(
    prepared: Prepared, feeds: DataSet, sizes: Mapping[str, ValueSize], budget: int, samples: int
) -> Iterator[tuple[str, Array]]:
    """Every prepared value of the samples, with its name."""
    for one in plan_passes(sizes, budget, part=0, reducible=False):
        runner = Runner(
            prepared.model, prepared.main, one, budget_bytes=budget, part=0, limit=ORDINARY_BELOW
        )
        for feed in islice(feeds, samples):
            for name, seen in runner.run(feed):
                if isinstance(seen, np.ndarray):
                    yield name, seen
    for feed in islice(feeds, samples):
        for name in prepared.inputs:
            given = feed.get(name)
            if isinstance(given, np.ndarray):
                yield name, given


class _Kept:
    """The rows of one value.

    Args:
        each: How many rows of a sample are kept.
    """

    def __init__(self, each: int) -> None:
        self._each = each
        self._values: list[Array] = []
        self._sample: list[Array] = []
        self._low: list[Array] = []
        self._high: list[Array] = []
        self._problem = ""

    @property
    def problem(self) -> str:
        """Why there are no rows; empty where there are."""
        return self._problem or ("" if self._values else "it is empty on this data")

    def add(self, array: Array) -> None:
        """Add the array of one sample."""
        if array.ndim == 0 or array.size == 0:
            return
        rows = array.reshape(-1, array.shape[-1])
        low, high = rows.min(axis=0), rows.max(axis=0)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            self._problem = "it holds NaN or infinities"
            return
        if self._low and low.size != self._low[0].size:
            self._problem = "its last axis changes from sample to sample"
            return
        indices = np.linspace(0, len(rows) - 1, min(self._each, len(rows))).astype(np.int64)
        self._values.append(rows[indices])
        self._sample.append(np.full(len(indices), len(self._low), np.int64))
        self._low.append(low)
        self._high.append(high)

    def finish(self) -> Rows | None:
        """The rows; None where there are none, or not of every sample."""
        if self.problem:
            return None
        return Rows(
            np.concatenate(self._values),
            np.concatenate(self._sample),
            np.stack(self._low),
            np.stack(self._high),
        )
