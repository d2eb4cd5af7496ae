"""Which values of a graph are held as quantized numbers: the cut that moves the fewest bytes.

Nodes that multiply are why values are quantized at all: the time that they save counts as bytes.
What lies between them is free: an Add, a pooling or a Transpose may take and give quantized numbers
where the target has a kernel for it, or stay in float between a DequantizeLinear and a
QuantizeLinear. Both cost memory traffic, so that the same minimum cut that places casts places
these (`mpgraph.analysis.cut`), with ``uint8`` standing for quantized.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

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
from mpgraph.quant.placement.prices import Price, prices_of
from mpgraph.quant.placement.roles import find_roles

__all__ = ["Region", "find_region"]

_FACTOR, _STEPS = 1.25, 40
"""By how much more float is said to take, and how often at most, until a node that gains nothing is
quantized."""


def find_region(
    graph: ir.Graph,
    mode: QuantizationMode,
    anchors: Mapping[ir.Node, Candidate],
    demand: Demand,
    counts: Mapping[ir.Value, int],
    overhead: int,
    *,
    alone: bool = True,
) -> Region:
    """Choose the values of one graph that are held as numbers of one format.

    Args:
        graph: The graph; what it captures from outside counts as float.
        mode: The mode of the anchors; nodes of another one stay outside.
        anchors: The nodes of it that multiply quantized operands.
        demand: What decides.
        counts: How many elements each value holds.
        overhead: Cost of one more kernel on the target, in bytes.
        alone: Whether nothing else of the graph is quantized; then the anchors that lose least
            are, also where none of them gains.
    """
    roles = {role.node: role for role in find_roles(graph, mode, anchors, demand)}
    prices = prices_of(demand, counts, overhead)
    priced = {node: prices.product(candidate) for node, candidate in anchors.items()}

    def found(worth: float) -> Region:
        weighed = {node: price and price.weighed(worth) for node, price in priced.items()}
        return _place(Cells(graph, roles, demand, weighed, prices))

    region = found(1)
    if region.anchors or not anchors or demand.kept or not alone:
        return region
    # Where no node gains, the smaller file is all that is asked for.
    steps = range(1, _STEPS)
    place = bisect_left(steps, True, key=lambda step: bool(found(_FACTOR**step).anchors))
    return found(_FACTOR ** steps[min(place, len(steps) - 1)])


@dataclass(frozen=True)
class _Costs(Traffic):
    """What a labelling costs by the prices of a target."""

    nodes: tuple[Price, ...]

    def node_cost(self, cell: int, dtype: ir.DataType) -> int:
        """What the nodes of a cell cost when it has a label."""
        price = self.nodes[cell]
        return price.integers if dtype == QUANTIZED else price.floats

    def cast_cost(self, elements: int, source: ir.DataType, target: ir.DataType) -> int:
        """What converting a value costs, which its edge holds."""
        return elements


def _place(cells: Cells) -> Region:
    start = [FLOAT] * len(cells.costs)
    start[FIXED_QUANTIZED] = QUANTIZED
    allowed = [frozenset({FLOAT, QUANTIZED})] * len(cells.costs)
    allowed[FIXED_FLOAT], allowed[FIXED_QUANTIZED] = frozenset({FLOAT}), frozenset({QUANTIZED})
    traffic = _Costs((), tuple(cells.edges()), 0, tuple(cells.costs))
    labels = place(traffic, start, allowed)
    return cells.region(without_idle(labels, traffic.edges, QUANTIZED, cells.multiplying))
