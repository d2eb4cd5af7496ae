"""Value ranges measured on data: statistics of every float value that can be reached."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mpgraph import ir
from mpgraph.analysis.dtype_flow import TypeFlow, infer_types
from mpgraph.runtime.bodies import Instrumented, instrument_bodies, read_statistics
from mpgraph.runtime.compare import for_session
from mpgraph.runtime.data import DataSet, InputSpec, input_specs, load_data
from mpgraph.runtime.exposure import float_tensors, value_batches, with_outputs
from mpgraph.runtime.faithful import faithful, faithful_session
from mpgraph.runtime.sessions import create_session, run
from mpgraph.runtime.statistics import ValueStatistics

__all__ = ["Measurements", "measure_ranges"]


@dataclass(frozen=True, slots=True)
class Measurements:
    """What was measured.

    Attributes:
        values: Statistics by value name: float inputs of the model, values of the main graph and
            of the bodies of If, Loop and Scan.
        not_measured: The other float values, each with the reason.
        samples: Number of feeds run.
        label: Where the data came from.
    """

    values: Mapping[str, ValueStatistics]
    not_measured: Mapping[str, str] = field(default_factory=dict)
    samples: int = 0
    label: str = ""


def measure_ranges(
    model: ir.Model | str | os.PathLike[str], data: object, *, budget_bytes: int = 256 * 2**20
) -> Measurements:
    """Run ``model`` on the CPU and collect statistics of its float values.

    A model that holds float16 or bfloat16 already is run under rounding emulation.

    Values of the main graph are returned in batches, by as many sessions as the budget asks for;
    each runs on all the data. Statistics of values in bodies are computed inside the graph and
    merged over steps and branches there, so that loops of any length take constant memory.

    Args:
        model: The model before conversion, with names that are unique over all its graphs.
        data: Anything that ``load_data`` takes.
        budget_bytes: Upper bound of the values of the main graph held at a time, estimated from
            the first feeds.

    Raises:
        DataError: The data does not fit.
        VerificationError: The model does not load or run.
    """
    given = ir.load(model)
    inputs = input_specs(given)
    feeds = load_data(data, inputs)
    original = faithful(given)
    flow = infer_types(original)
    totals, samples = _inputs(inputs, feeds)
    outer = float_tensors(given)
    for names in value_batches(original, list(outer), feeds, budget_bytes):
        _outer_values(original, names, feeds, totals)
    inner = instrument_bodies(original, flow)
    if inner.names:
        _inner_values(inner, feeds, totals)
    known = {value.name for scope in ir.graphs(given) for value in _values(scope.graph)}
    measured = {name: seen for name, seen in totals.items() if seen.count and name in known}
    watched = {name for names in inner.names for name in names}
    missing = _not_measured(given, infer_types(given), measured, {*outer, *watched})
    return Measurements(measured, missing, samples, feeds.label)


def _inputs(inputs: Sequence[InputSpec], feeds: DataSet) -> tuple[dict[str, ValueStatistics], int]:
    floats = [spec.name for spec in inputs if spec.dtype in ir.FLOATS]
    totals = {name: ValueStatistics() for name in floats}
    samples = 0
    for feed in feeds:
        samples += 1
        for name in floats:
            value = feed.get(name)
            for array in value if isinstance(value, list) else [value]:
                if isinstance(array, np.ndarray):
                    totals[name] = totals[name].merge(ValueStatistics.of(array))
    return totals, samples


def _outer_values(
    model: ir.Model, names: Sequence[str], feeds: DataSet, totals: dict[str, ValueStatistics]
) -> None:
    with with_outputs(model, names):
        session = faithful_session(model)
    for feed in feeds:
        got = run(session, for_session(session, feed), names)
        for name in names:
            seen = ValueStatistics.of(got.pop(name))
            totals[name] = totals.get(name, ValueStatistics()).merge(seen)


def _inner_values(inner: Instrumented, feeds: DataSet, totals: dict[str, ValueStatistics]) -> None:
    session = create_session(inner.model, optimize=False)
    for feed in feeds:
        given = for_session(session, feed)
        for name, seen in read_statistics(inner, run(session, given)).items():
            totals[name] = totals.get(name, ValueStatistics()).merge(seen)


def _not_measured(
    model: ir.Model,
    flow: TypeFlow,
    measured: Mapping[str, ValueStatistics],
    watched: Collection[str],
) -> dict[str, str]:
    missing: dict[str, str] = {}
    for scope in ir.graphs(model):
        for value in _values(scope.graph):
            if value.name in measured or flow.dtype(value) not in ir.FLOATS or not value.name:
                continue
            if scope.function is not None:
                reason = "is inside a local function"
            elif not str(flow.type(value)).startswith("tensor("):
                reason = "is no tensor"
            elif value.name in watched:
                reason = "was never computed on this data, or is empty"
            else:
                reason = "is in a body that cannot be watched"
            missing[value.name] = reason
    return missing


def _values(graph: ir.Graph) -> list[ir.Value]:
    return ir.defined_values(graph)
