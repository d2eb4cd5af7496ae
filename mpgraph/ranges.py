"""The job behind `mpgraph calibrate`: ranges with which later conversions need no data."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mpgraph import ir
from mpgraph.calibration import CalibrationSettings, Progress, parse_memory
from mpgraph.errors import PolicyError
from mpgraph.passmgr import (
    Facts,
    Instrument,
    Reproducer,
    VerifyEach,
    load_pipeline,
    run_pipeline,
)
from mpgraph.passmgr.pipelines import OBSERVE
from mpgraph.policy import DTypePolicy, PolicyMap, as_policy_map
from mpgraph.quant.calibration import Calibration
from mpgraph.quant.observers import Method, Observer
from mpgraph.runtime import input_specs, load_data
from mpgraph.targets import Target, get_target

if TYPE_CHECKING:
    import onnx

__all__ = ["DEFAULT_POLICY", "as_calibration", "as_observer", "calibrate_model", "merge_ranges"]

DEFAULT_POLICY = "int8_from_float32"
"""The policy whose ranges are found unless another one is given."""


def calibrate_model(
    source: str | os.PathLike[str] | onnx.ModelProto | ir.Model,
    data: Any,
    policy: str | DTypePolicy | PolicyMap = DEFAULT_POLICY,
    *,
    target: str | Target = "cpu",
    observer: Observer | Method | None = None,
    samples: int | None = None,
    memory: str | int = "512MB",
    executor: Executor | None = None,
    workers: int | None = None,
    threads: int = 0,
    allow_slow: bool = False,
    progress: Progress | None = None,
    instruments: tuple[Instrument, ...] = (),
) -> Calibration:
    """Find the ranges that a conversion of a model by a policy needs, for ``convert(ranges=...)``.

    The model is prepared as the conversion does, and run on the data with the values exposed whose
    ranges the plan asks for, no others. Nothing of a sample is kept but counts.

    Args:
        source: A path, a protobuf message or an IR model; none of them is changed.
        data: A file or folder as for ``--data``, a feed, or an iterable of feeds.
        policy: A policy name, a policy, or a map with rules per node.
        target: Where the converted model shall run.
        observer: ``minmax``, ``moving_average``, ``percentile``, ``entropy`` or ``mse``, or an
            ``Observer`` with its parameters; by default what the policy says.
        samples: Use at most so many samples.
        memory: Bound of the arrays that leave the model at a time, such as ``512MB``; values that
            do not fit together are observed in several passes over the data.
        executor: Where samples are run, any ``concurrent.futures.Executor``; its workers read the
            model from the folder for temporary files. Ranges are those of a run without one.
        workers: How many workers the executor has, where it does not tell.
        threads: Threads that compute in one process; 0 takes all cores. Without an executor they
            take samples side by side. Workers that share a machine should share its cores.
        allow_slow: Also what the target can only lose time by, as for ``convert``.
        progress: Called with the step, the samples done, and all of them.
        instruments: Observers of the pipeline.

    Raises:
        PolicyError: The policy needs no ranges on this target.
        InputError: The model, the data, or a value does not fit.
        VerificationError: The model does not load or run.
    """
    parse_memory(memory)
    with ir.paused_gc():
        model = ir.load_copy(source)
        fingerprint = ir.content_fingerprint(model)
        chosen = get_target(target)
        facts = Facts(as_policy_map(policy), chosen)
        facts.put(
            CalibrationSettings(
                observer=as_observer(observer),
                data=load_data(data, input_specs(model), samples=samples),
                memory=memory,
                executor=executor,
                workers=workers,
                threads=threads,
                progress=progress,
            )
        )
        text = OBSERVE.format(
            keep_io_types="true", allow_slow=str(allow_slow).lower(), storage="compute"
        )
        watchers = (
            VerifyEach(),
            Reproducer(lambda: ir.load_copy(source), weights=False),
            *instruments,
        )
        run_pipeline(model, load_pipeline(text), facts, watchers)
        found = facts.find(Calibration)
        if found is None or not (found.accumulators or found.missing):
            name = facts.get(PolicyMap).default.name
            raise PolicyError(
                f"policy {name!r}",
                f"needs no ranges on {chosen.name}",
                "convert without --ranges, or calibrate for another policy or target",
            )
        return replace(found, fingerprint=fingerprint)


def merge_ranges(
    source: str | os.PathLike[str] | onnx.ModelProto | ir.Model,
    parts: Iterable[str | os.PathLike[str] | Calibration],
) -> Calibration:
    """Calibrations of one model as one over the data of all, in this order.

    Raises:
        DataError: One is unreadable, of another model, or of another method.
    """
    first, *others = [as_calibration(part) for part in parts]
    first.check_model(ir.load(source))
    return first.merge(*others)


def as_calibration(ranges: str | os.PathLike[str] | Calibration) -> Calibration:
    """What ``ranges=`` takes, as a calibration.

    Raises:
        DataError: The file is unreadable, or no file of ranges.
    """
    return ranges if isinstance(ranges, Calibration) else Calibration.load(ranges)


def as_observer(observer: Observer | Method | None) -> Observer | None:
    """What ``observer=`` takes, as an observer.

    Raises:
        DataError: There is no such method.
    """
    if observer is None or isinstance(observer, Observer):
        return observer
    return Observer.from_config({"method": observer})
