"""Calibration: run the model on data and keep the ranges of its values."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from mpgraph import ir
from mpgraph.calibration.lanes import here
from mpgraph.calibration.memory import parse_memory
from mpgraph.calibration.pieces import feed_bytes
from mpgraph.calibration.schedule import Schedule
from mpgraph.calibration.spread import spread
from mpgraph.calibration.work import RunJob
from mpgraph.errors import DataError
from mpgraph.quant.calibration import Calibration, select_values
from mpgraph.quant.observers import ORDINARY_BELOW, Accumulator, Method, Observer
from mpgraph.runtime import DataSet, input_specs, load_data
from mpgraph.runtime.observation import Prepared, ValueSize, prepare, probe

__all__ = ["Progress", "calibrate", "value_sizes"]

Progress = Callable[[str, int, int], None]


def calibrate(
    model: ir.Model | str | os.PathLike[str],
    data: object,
    observer: Observer | Method = "minmax",
    *,
    values: Iterable[str] | None = None,
    memory: str | int = "512MB",
    samples: int | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> Calibration:
    """Find the ranges of the values of a model on data.

    Samples may differ in shape. Nothing of a sample is kept but counts, so that memory does not
    grow with their number. The model runs on the CPU; float16 and bfloat16 are emulated. The
    result names no model: whoever keeps it for later gives it a fingerprint.

    Args:
        model: A path, an ``onnx.ModelProto`` or an ``ir.Model``.
        data: Anything that ``mpgraph.verify`` takes as data; never made up unless asked for.
        observer: How ranges are taken: ``minmax``, ``moving_average``, ``percentile``,
            ``entropy`` or ``mse``, or an ``Observer`` with its parameters.
        values: Names of the values to observe; by default every float value that a quantizable
            node reads or writes.
        memory: Bound of the arrays that leave the model at a time; several passes are made
            where they do not fit together.
        samples: Use at most so many samples.
        executor: Where samples are run, any ``concurrent.futures.Executor``; its workers read the
            model from the folder for temporary files. Ranges are those of a run without one.
        workers: How many pieces are sent at a time, where the executor does not tell.
        threads: Threads that compute in one process; 0 takes all cores. Without an executor they
            take samples side by side.
        progress: Called with the step, the samples done, and all of them.

    Raises:
        DataError: The data or a name does not fit, a value has no finite element, or is larger
            than ``memory`` by itself.
        VerificationError: The model does not load or run.
    """
    budget = parse_memory(memory)
    chosen = observer if isinstance(observer, Observer) else Observer(method=observer)
    given = ir.load(model)
    feeds = load_data(data, input_specs(given), samples=samples)
    selection = select_values(given, values, share=chosen.axis is None)
    if not selection.values:
        return Calibration("", chosen, {}, {}, selection.missing, 0, feeds.label)
    prepared = prepare(given, selection.values)
    count, sizes = value_sizes(prepared, feeds)
    schedule = Schedule(prepared, sizes, chosen, budget, threads)
    with _place(prepared.model, count, executor, workers) as run_job:
        seen = _observe(run_job, schedule, feeds, count, progress)
    found = _by_origin(seen, prepared.origins)
    _check_finite(found)
    missing = {**selection.missing, **prepared.missing}
    for name in selection.values:
        if name not in found and name not in missing:
            missing[name] = "was never computed on this data"
    for name, one in selection.aliases.items():
        if one not in found:
            missing[name] = f"holds the elements of {one!r}, which has none"
    return Calibration(
        "",
        chosen,
        {name: found[name] for name in selection.values if name in found},
        {name: one for name, one in selection.aliases.items() if one in found},
        missing,
        count,
        feeds.label,
    )


def _place(
    model: ir.Model, samples: int, executor: Executor | None, workers: int | None
) -> AbstractContextManager[RunJob]:
    if executor is None:
        return nullcontext(here(model, samples))
    return spread(model, executor, workers)


def _observe(
    run_job: RunJob, schedule: Schedule, feeds: DataSet, count: int, progress: Progress | None
) -> dict[str, Accumulator]:
    """Run all passes; returns the accumulators by observed value."""
    found: dict[str, Accumulator] = {}
    done = 0
    for job in schedule:
        put_off: dict[str, ValueSize] = {}
        for piece in run_job(job, feeds):
            for name, one in piece.accumulators.items():
                found[name] = found[name].merge(one) if name in found else one
            for name, size in piece.put_off.items():
                put_off[name] = put_off.get(name, size).merge(size)
            done += piece.samples
            if progress is not None:
                progress("calibrate", done, count * schedule.made)
        for name in put_off:
            found.pop(name, None)
        schedule.again(put_off)
    return found


def _by_origin(
    seen: Mapping[str, Accumulator], origins: Mapping[str, tuple[str, ...]]
) -> dict[str, Accumulator]:
    found: dict[str, Accumulator] = {}
    for name, one in seen.items():
        for origin in origins[name]:
            found[origin] = found[origin].merge(one) if origin in found else one
    return found


def value_sizes(prepared: Prepared, feeds: DataSet) -> tuple[int, dict[str, ValueSize]]:
    """How many samples there are, and sizes of values on the first and on the largest one."""
    first: Mapping[str, Any] | None = None
    largest: Mapping[str, Any] = {}
    most, count = -1, 0
    for feed in feeds:
        count += 1
        size = feed_bytes(feed)
        if size > most:
            largest, most = feed, size
        first = feed if first is None else first
    probed = [one for one in (first, largest) if one is not None]
    if first is largest:
        del probed[1:]
    return count, probe(prepared.model, prepared.main, probed, ORDINARY_BELOW)


def _check_finite(found: Mapping[str, Accumulator]) -> None:
    empty = [
        (name, one.count) for name, one in found.items() if one.count and one.count == one.nonfinite
    ]
    if empty:
        name, count = empty[0]
        more = f", and {len(empty) - 1} other values" if len(empty) > 1 else ""
        raise DataError(
            f"value {name!r}",
            f"all its {count} elements are NaN or infinite{more}",
            "look for the input that causes it, or leave the value out",
        )
