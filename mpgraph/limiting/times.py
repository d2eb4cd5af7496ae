"""Times of the float model and of quantized ones: per node, and side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from mpgraph import ir
from mpgraph.errors import MissingDependencyError, TargetError
from mpgraph.quant import PlannedNode, QuantizationPlan
from mpgraph.quant.sensitivity import Latency, owners, seconds_of
from mpgraph.runtime import DataSet
from mpgraph.runtime.bench import bench_models
from mpgraph.runtime.node_seconds import kernel_seconds

__all__ = ["NodeGain", "node_gains", "ratio_of_times"]

_SAMPLES = 2
"""Feeds that are run in turn where models are timed side by side."""

_SESSIONS = 3
"""Sessions of each model: how fast one is depends on where its memory lies too."""


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


def node_gains(
    model: ir.Model,
    quantized: ir.Model,
    plan: QuantizationPlan,
    chosen: Sequence[PlannedNode],
    data: DataSet,
    target: str,
) -> list[NodeGain] | None:
    """What each node gains, by the profile of one sample; None where that cannot be told."""
    feed = next(iter(data), None)
    results = {}
    for part, planned in enumerate(chosen):
        for value in plan.places[planned.key].outputs:
            if value.name:
                results[value.name] = part
    try:
        kernels = [kernel_seconds(one, target, feed or {}) for one in (model, quantized)]
    except (TargetError, MissingDependencyError):
        return None
    before, after = kernels
    if before is None or after is None:
        return None
    return [
        NodeGain(*pair)
        for pair in zip(
            seconds_of(before, owners(model, results), len(chosen)),
            seconds_of(after, owners(quantized, results), len(chosen)),
            strict=True,
        )
    ]


def ratio_of_times(
    model: ir.Model, quantized: ir.Model, data: DataSet, target: str, seconds: float
) -> Latency | None:
    """The time of a quantized model over that of the float model, by interleaved runs.

    Args:
        model: The float model.
        quantized: The quantized model.
        data: Feeds for both, of which the first ones are run.
        target: Where they run; None is returned where it is not installed.
        seconds: How long all runs take.
    """
    feeds = list(islice(data, _SAMPLES))
    try:
        bench = bench_models(
            model, quantized, data=feeds, target=target, seconds=seconds, sessions=_SESSIONS
        )
    except (TargetError, MissingDependencyError):
        return None
    (found,) = bench.ratios
    return Latency(found.ratio, found.low, found.high)
