"""What nodes that multiply save by doing so in 8 bits."""

from __future__ import annotations

from collections.abc import Mapping

from mpgraph import ir
from mpgraph.quant.placement.demand import Candidate, Demand
from mpgraph.schema import integer

__all__ = ["anchor_savings"]

_WIDE = 4
"""Input and output channels of a group from which on 8-bit convolutions are faster."""

_NARROWER = 3
"""How many bytes less an element takes when it is quantized."""


def anchor_savings(
    anchors: Mapping[ir.Node, Candidate], demand: Demand, counts: Mapping[ir.Value, int]
) -> dict[ir.Node, int]:
    """What nodes save, as elements of memory traffic; without those that are quantized anyway.

    Args:
        anchors: The nodes that multiply.
        demand: What decides.
        counts: How many elements each value holds.
    """
    saved = demand.rules.bytes_per_product
    if saved is None:
        return {}
    found = {}
    for node, candidate in anchors.items():
        if candidate.weight is None or demand.forces(node):
            continue
        size, channels = candidate.weight.tensor.size, candidate.operands.channels
        products = counts.get(node.outputs[0], 1) * size // candidate.weight.shape[channels]
        if _is_narrow(node, candidate.weight.shape):
            products = 0
        touched = (node.inputs[candidate.operands.activation], node.outputs[0])
        moved = size + sum(counts.get(value, 1) for value in touched if value is not None)
        found[node] = moved + round(products * saved / _NARROWER)
    return found


def _is_narrow(node: ir.Node, shape: tuple[int, ...]) -> bool:
    """Whether a Conv multiplies so few channels at a time that 8 bits are no faster: a depthwise
    one, one that reads a waveform."""
    if node.op_type != "Conv":
        return False
    return min(shape[1], shape[0] // integer(node, "group", 1, {})) < _WIDE
