"""The benchmark of any number of models on one target."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mpgraph import ir
from mpgraph.errors import DataError, VerificationError
from mpgraph.runtime.bench.interleave import Call, Opener, Report, Samples, interleave
from mpgraph.runtime.bench.nodes import Profiled, profiled_nodes
from mpgraph.runtime.bench.ratio import Ratio, ratio_of
from mpgraph.runtime.bench.result import Bench, Environment, Timing
from mpgraph.runtime.cores import usable_cores
from mpgraph.runtime.data import input_specs, load_data
from mpgraph.runtime.inputs import as_inputs, check_inputs
from mpgraph.runtime.ort import onnxruntime
from mpgraph.runtime.sessions import create_session
from mpgraph.runtime.source import failures, one_line
from mpgraph.runtime.values import to_ort_value
from mpgraph.targets import find_provider, with_values
from mpgraph.targets.device import cpu_name

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["bench_models"]

# Else the idle threads of one model's session take the cores from the next one for a while.
_STOP_SPINNING = ("session.force_spinning_stop", "1")
_FEWEST_SESSIONS = 3
_PROFILED_RUNS = 5
_PROFILE_SHARE = 0.1


def bench_models(
    *models: ir.Model | str | os.PathLike[str],
    data: object,
    target: str = "cpu",
    threads: int = 0,
    settings: Mapping[str, str] | None = None,
    seconds: float = 10.0,
    sessions: int = 5,
    confidence: float = 0.95,
    samples: int | None = None,
    labels: Sequence[str] = (),
    report: Report | None = None,
) -> Bench:
    """Time models side by side on the same data, and say how sure their ratios are.

    A run takes its inputs from CPU memory and leaves its outputs there, so that for a GPU the
    copies count. The result names a winner only where the interval of every ratio excludes 1.

    Args:
        models: Two or more to compare; one to see its time and its nodes.
        data: Anything that ``load_data`` takes, for the inputs of the first model; the others have
            inputs of the same names.
        target: Where all run; nothing runs elsewhere for want of the provider.
        threads: Threads inside one operator; 0 leaves the choice to onnxruntime.
        settings: Values for settings of the target, as for ``mpgraph.session``.
        seconds: How long all runs take together, warm-up and profile included, creation of
            sessions not. A slow model still runs as often as an interval needs
            (``Bench.overran``).
        sessions: How often a new session of each model is made, 3 or more; more make the intervals
            narrower.
        confidence: With which all intervals hold together (Bonferroni's correction).
        samples: Use at most so many feeds.
        labels: What to call the models; by default their file names.
        report: Called with a step, how much is done, and how much there is.

    Raises:
        DataError: The data does not fit the models, there is none, or an argument is out of range.
        TargetError, MissingDependencyError: The target cannot be used here.
        VerificationError: A model does not load or run.
    """
    _check_arguments(len(models), seconds, sessions, confidence)
    loaded = [ir.load(model) for model in models]
    specs = [input_specs(model) for model in loaded]
    for other in specs[1:]:
        check_inputs(specs[0], other)
    given = load_data(data, specs[0], samples=samples)
    feeds = list(given)
    if not feeds:
        raise DataError(given.label, "holds no sample to run the models on")
    names = _unique(labels or [_name(model, at) for at, model in enumerate(models, 1)])
    # A path goes to onnxruntime as it is, which then maps external data itself.
    sources = [
        one if isinstance(one, (str, os.PathLike)) else ready
        for one, ready in zip(models, loaded, strict=True)
    ]
    bound = [[as_inputs(feed, spec) for feed in feeds] for spec in specs]

    def opened(place: int, profile: Path | None = None) -> InferenceSession:
        return create_session(
            sources[place],
            target=target,
            threads=threads,
            settings=settings,
            entries=(_STOP_SPINNING,),
            profile_prefix=profile,
        )

    def opener(place: int) -> Opener:
        return lambda: _calls(opened(place), bound[place])

    total = sessions + len(names)
    profiles: dict[str, Profiled] = {}
    for place, name in enumerate(names):
        if report is not None:
            report("time per node", place, total)
        share = _PROFILE_SHARE * seconds / len(names)
        profiles[name] = _profiled(place, opened, bound[place], share)
    profiling = sum(one.spent for one in profiles.values())
    later = _later(report, len(names), total)
    measured = interleave(
        [opener(place) for place in range(len(names))],
        sets=sessions,
        seconds=max(0.0, seconds - profiling),
        report=later,
    )
    return Bench(
        timings=tuple(_timing(name, measured, place) for place, name in enumerate(names)),
        ratios=_ratios(names, measured, confidence),
        confidence=confidence,
        sessions=sessions,
        rounds=measured.times.shape[1],
        runs=measured.runs,
        data=given.label,
        environment=_environment(target, threads, settings),
        asked=seconds,
        spent=profiling + measured.spent,
        nodes={name: one.nodes for name, one in profiles.items()},
    )


def _check_arguments(count: int, seconds: float, sessions: int, confidence: float) -> None:
    if count == 0:
        raise DataError("bench", "no model was given")
    if not 0 < seconds < float("inf"):
        raise DataError("bench", f"seconds is {seconds:g}, not above 0")
    if sessions < _FEWEST_SESSIONS:
        raise DataError(
            "bench", f"sessions is {sessions}", f"{_FEWEST_SESSIONS} are needed for an interval"
        )
    if not 0 < confidence < 1:
        raise DataError("bench", f"confidence is {confidence:g}, not between 0 and 1")


def _profiled(
    place: int,
    opened: Callable[[int, Path], InferenceSession],
    feeds: Sequence[Mapping[str, Any]],
    seconds: float,
) -> Profiled:
    return profiled_nodes(
        lambda prefix: opened(place, prefix),
        lambda session: _calls(session, feeds),
        _PROFILED_RUNS,
        seconds,
    )


def _calls(session: InferenceSession, feeds: Sequence[Mapping[str, Any]]) -> list[Call]:
    return [_call(session, feed) for feed in feeds]


def _call(session: InferenceSession, feed: Mapping[str, Any]) -> Call:
    names = [output.name for output in session.get_outputs()]
    plain = any(value is None or isinstance(value, list) for value in feed.values())
    values = dict(feed) if plain else {name: to_ort_value(one) for name, one in feed.items()}
    run: Callable[[list[str], Mapping[str, Any]], object]
    run = session.run if plain else session.run_with_ort_values

    def call() -> None:
        try:
            run(names, values)
        except failures() as error:
            raise VerificationError(
                "session", f"onnxruntime fails at run time: {one_line(error)}"
            ) from error

    return call


def _timing(label: str, measured: Samples, place: int) -> Timing:
    times = measured.times[:, :, place].ravel()
    low, median, high = (float(value) for value in np.quantile(times, (0.25, 0.5, 0.75)))
    load = float(np.median(measured.loads[:, place]))
    return Timing(label, median, low, high, float(times.min()), load)


def _ratios(names: Sequence[str], measured: Samples, confidence: float) -> tuple[Ratio, ...]:
    pairs = list(combinations(range(len(names)), 2))
    each = 1 - (1 - confidence) / max(1, len(pairs))
    times = measured.times
    return tuple(
        ratio_of(names[a], names[b], times[:, :, a], times[:, :, b], each) for a, b in pairs
    )


def _environment(target: str, threads: int, settings: Mapping[str, str] | None) -> Environment:
    provider = find_provider(target)
    chosen = with_values(provider.settings, settings or {}, f"target {provider.target}")
    options = {"graph optimisations": "all", _STOP_SPINNING[0]: _STOP_SPINNING[1]}
    options.update((setting.name, setting.value) for setting in chosen)
    return Environment(
        target=provider.target,
        provider=provider.name,
        onnxruntime=str(onnxruntime().__version__),
        processor=cpu_name(),
        cores=usable_cores(),
        threads=threads,
        options=options,
    )


def _name(model: ir.Model | str | os.PathLike[str], number: int) -> str:
    if isinstance(model, (str, os.PathLike)):
        return Path(model).name
    return getattr(model.graph, "name", "") or f"model {number}"


def _unique(labels: Sequence[str]) -> list[str]:
    counts = {label: labels.count(label) for label in labels}
    return [f"{label} #{at}" if counts[label] > 1 else label for at, label in enumerate(labels, 1)]


def _later(report: Report | None, offset: int, total: int) -> Report | None:
    if report is None:
        return None
    told = report
    return lambda step, done, _: told(step, done + offset, total)
