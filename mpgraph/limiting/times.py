"""Times of the float model and of quantized ones: per node, and side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from mpgraph import ir
from mpgraph.errors import MissingDependencyError, TargetError
from mpgraph.quant import PlannedNode, QuantizationPlan
from mpgraph.quant.placement.clipped import behind_clip
from mpgraph.quant.sensitivity import Latency, owners, seconds_of
from mpgraph.runtime import DataSet
from mpgraph.runtime.bench import Ratio, bench_models
from mpgraph.runtime.node_seconds import kernel_seconds

__all__ = ["NodeGain", "part_seconds", "ratio_of_times"]

_SAMPLES = 2
"""Feeds that are run in turn where models are timed side by side."""

_TURNS = ((1, 3), (2, 5), (4, 8))
"""How long models are timed, in units, and in how many sessions each: how fast one is depends on
where its memory lies too. The next turn is taken where the last one does not tell the faster."""


@dataclass(frozen=True, slots=True)
class NodeGain:
    """The seconds of a node in one run.

    Attributes:
        before: In float.
        after: Quantized, with the conversions of what it reads.
    """

    before: float
    after: float

    @property
    def gain(self) -> float:
        """What quantization gains."""
        return self.before - self.after


def part_seconds(
    model: ir.Model,
    plan: QuantizationPlan,
    chosen: Sequence[PlannedNode],
    data: DataSet,
    target: str,
) -> list[float] | None:
    """The seconds of each node in one run, with what was inserted for it and the Clip behind it.

    Args:
        model: The float model, or one that was quantized from it.
        plan: A plan for the float model.
        chosen: Nodes of the plan.
        data: Feeds, of which the first one is run.
        target: Where it runs.

    Returns:
        The times by node; None where they cannot be told.
    """
    results = {}
    for part, planned in enumerate(chosen):
        for value in plan.places[planned.key].outputs:
            results.update({one.name: part for one in (value, behind_clip(value)) if one.name})
    try:
        kernels = kernel_seconds(model, target, next(iter(data), {}))
    except (TargetError, MissingDependencyError):
        return None
    return None if kernels is None else seconds_of(kernels, owners(model, results), len(chosen))


def ratio_of_times(
    model: ir.Model, quantized: ir.Model, data: DataSet, target: str, seconds: float
) -> Latency | None:
    """The time of a quantized model over that of the float model, by interleaved runs.

    Args:
        model: The model as it was given.
        quantized: The quantized model.
        data: Feeds for both, of which the first ones are run.
        target: Where they run; None is returned where it is not installed.
        seconds: How long all runs take; up to seven times as long where it is not clear which of
            both is faster.
    """
    feeds = list(islice(data, _SAMPLES))
    found: Ratio | None = None
    for units, sessions in _TURNS:
        if found is not None and found.faster is not None:
            break
        try:
            bench = bench_models(
                model,
                quantized,
                data=feeds,
                target=target,
                seconds=units * seconds,
                sessions=sessions,
            )
        except (TargetError, MissingDependencyError):
            return None
        (found,) = bench.ratios
    return None if found is None else Latency(found.ratio, found.low, found.high)
