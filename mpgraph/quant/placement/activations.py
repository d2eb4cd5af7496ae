"""The scales of the values that a region holds as quantized numbers."""

from __future__ import annotations

from collections.abc import Mapping

from mpgraph import ir
from mpgraph.policy import QuantizationMode
from mpgraph.quant.formats import Layout, parameters_from_range
from mpgraph.quant.placement.cells import Region
from mpgraph.quant.placement.demand import Demand
from mpgraph.quant.placement.useful import useful_range
from mpgraph.quant.placement.weights import activation_format
from mpgraph.quant.planned import PlannedActivation

__all__ = ["plan_activation"]


def plan_activation(
    value: ir.Value,
    region: Region,
    mode: QuantizationMode,
    path: str,
    keys: Mapping[ir.Node, str],
    demand: Demand,
) -> PlannedActivation:
    """Plan one quantized value of a region.

    Args:
        value: The value.
        region: The region.
        mode: The mode of the region.
        path: The path of the graph.
        keys: The places of its nodes.
        demand: What decides.
    """
    source = _observed(value, region, demand)
    format = activation_format(mode, demand.rules)
    calibration = demand.calibration
    if calibration is None:
        raise ValueError(f"{value.name}: its range is not known")
    levels = int(format.highest - format.lowest) + 1 if not format.is_float else 256
    found = calibration.range(source.name or "", levels, format.symmetric)
    found = useful_range(source, found, demand)
    parameters = parameters_from_range(found.low, found.high, format, Layout())
    readers = [f"{keys[node]}:{index}" for node, index in region.readers[value]]
    readers += [f"{path}:{index}" for index in region.outputs.get(value, ())]
    return PlannedActivation(
        path,
        value.name or "",
        format.dtype,
        float(parameters.scale),
        int(parameters.zero_point),
        tuple(readers),
    )


def _observed(value: ir.Value, region: Region, demand: Demand) -> ir.Value:
    """The value whose range gives the scale: what is moved has the scale of its source."""
    source: ir.Value | None = value
    while source in region.sources:
        source = region.sources[source]
    while source is not None and not demand.has_range(source):
        producer = source.producer()
        source = None if producer is None else producer.inputs[0]
    if source is None:
        raise ValueError(f"{value.name}: its range is not known")
    return source
