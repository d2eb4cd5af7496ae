"""Which values of a graph are held as quantized numbers: the cut that moves the fewest bytes.

Nodes that multiply are why values are quantized at all: the time that they save counts as bytes.
What lies between them is free: an Add, a pooling or a Transpose may take and give quantized numbers
where the target has a kernel for it, or stay in float between a DequantizeLinear and a
QuantizeLinear. Both cost memory traffic, so that the same minimum cut that places casts places
these (`mpgraph.analysis.cut`), with ``uint8`` standing for quantized.
"""

from __future__ import annotations

from collections.abc import Mapping

from mpgraph import ir
from mpgraph.analysis import Traffic, place
from mpgraph.policy import QuantizationMode
from mpgraph.quant.placement.cells import (
    FIXED_FLOAT,
    FIXED_QUANTIZED,
    FLOAT,
    QUANTIZED,
    Cells,
    Region,
)
from mpgraph.quant.placement.demand import Candidate, Demand
from mpgraph.quant.placement.idle import without_idle
from mpgraph.quant.placement.roles import find_roles
from mpgraph.quant.placement.savings import anchor_savings

__all__ = ["Region", "find_region"]


def find_region(
    graph: ir.Graph,
    mode: QuantizationMode,
    anchors: Mapping[ir.Node, Candidate],
    demand: Demand,
    counts: Mapping[ir.Value, int],
    overhead: int,
) -> Region:
    """Choose the values of one graph that are held as numbers of one format.

    Args:
        graph: The graph; what it captures from outside counts as float.
        mode: The mode of the anchors; nodes of another one stay outside.
        anchors: The nodes of it that multiply quantized operands.
        demand: What decides.
        counts: How many elements each value holds.
        overhead: Cost of one more kernel on the target, in bytes.
    """
    roles = {role.node: role for role in find_roles(graph, mode, anchors, demand)}

    def found(savings: Mapping[ir.Node, int]) -> Region:
        return _place(Cells(graph, roles, counts, demand, savings), overhead)

    region = found(anchor_savings(anchors, demand, counts))
    if region.anchors or not anchors or demand.kept:
        return region
    # Where no node gains, the smaller file is all that is asked for.
    return found({})


def _place(cells: Cells, overhead: int) -> Region:
    start = [FLOAT] * len(cells.elements)
    start[FIXED_QUANTIZED] = QUANTIZED
    allowed = [frozenset({FLOAT, QUANTIZED})] * len(cells.elements)
    allowed[FIXED_FLOAT], allowed[FIXED_QUANTIZED] = frozenset({FLOAT}), frozenset({QUANTIZED})
    traffic = Traffic(tuple(cells.elements), tuple(cells.edges()), overhead)
    labels = place(traffic, start, allowed)
    return cells.region(without_idle(labels, traffic.edges, QUANTIZED, cells.multiplying))
