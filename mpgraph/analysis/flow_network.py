"""The flow network of one component of free cells, and its minimum cut."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import networkx as nx
from networkx.algorithms.flow import boykov_kolmogorov

from mpgraph import ir
from mpgraph.analysis.cost import Edge, Traffic

__all__ = ["Arc", "component_arcs", "source_side"]

_SOURCE, _SINK = -1, -2

Arc = tuple[int, int, int | None]
"""Tail, head and capacity; None is unbounded. Free cells are numbered from 0 in the order of the
component, helper vertices after them; the source stands for low, the sink for kept."""


class _Arcs:
    """Collects arcs; parallel ones add up, and what leaves a cell both ways cancels out."""

    def __init__(self) -> None:
        self.capacities: dict[tuple[int, int], int] = {}
        self.unbounded: list[Arc] = []

    def charge(self, tail: int, head: int, cost: int) -> None:
        """Add ``cost`` if ``tail`` is low and ``head`` is kept."""
        if cost and tail != head and tail != _SINK and head != _SOURCE:
            self.capacities[tail, head] = self.capacities.get((tail, head), 0) + cost

    def forbid(self, tail: int, head: int) -> None:
        """Rule out that ``tail`` is low and ``head`` is kept."""
        self.unbounded.append((tail, head, None))

    def finish(self, cells: int) -> frozenset[Arc]:
        """All arcs, with the costs of a cell's two sides reduced to their difference."""
        for cell in range(cells):
            kept = self.capacities.pop((_SOURCE, cell), 0)
            low = self.capacities.pop((cell, _SINK), 0)
            if kept > low:
                self.capacities[_SOURCE, cell] = kept - low
            elif low > kept:
                self.capacities[cell, _SINK] = low - kept
        bounded = [(tail, head, cost) for (tail, head), cost in self.capacities.items()]
        return frozenset((*bounded, *self.unbounded))


def component_arcs(
    traffic: Traffic,
    labels: Sequence[ir.DataType],
    low: ir.DataType,
    cells: Sequence[int],
    edges: Iterable[Edge],
) -> frozenset[Arc]:
    """The arcs whose minimum cut is the best expansion of one component.

    Args:
        traffic: What nodes and casts cost.
        labels: The dtypes before the expansion.
        low: The dtype that the cells may take instead.
        cells: The free cells of the component.
        edges: The values that touch them.
    """
    number = {cell: position for position, cell in enumerate(cells)}
    arcs = _Arcs()
    for cell, position in number.items():
        arcs.charge(_SOURCE, position, traffic.node_cost(cell, labels[cell]))
        arcs.charge(position, _SINK, traffic.node_cost(cell, low))
    helper = len(cells)
    for edge in edges:
        source = labels[edge.producer]
        producer = number.get(edge.producer, _SOURCE if source == low else _SINK)
        takes_low = [cell for cell in edge.consumers if cell in number or labels[cell] == low]
        if takes_low:
            arcs.charge(helper, producer, traffic.cast_cost(edge.elements, source, low))
            for cell in takes_low:
                arcs.forbid(number.get(cell, _SOURCE), helper)
            helper += 1
        for kept in sorted({labels[cell] for cell in edge.consumers} - {low}):
            keeps = [cell for cell in edge.consumers if labels[cell] == kept]
            if source != kept and producer >= 0 and any(cell not in number for cell in keeps):
                # The cast is certain; only what it reads depends on the producer.
                arcs.charge(_SOURCE, producer, traffic.cast_cost(edge.elements, source, kept))
                arcs.charge(producer, _SINK, traffic.cast_cost(edge.elements, low, kept))
                continue
            differs = producer if source == kept else _SOURCE
            other = low if source == kept else source
            arcs.charge(differs, helper, traffic.cast_cost(edge.elements, other, kept))
            for cell in keeps:
                arcs.forbid(helper, number.get(cell, _SINK))
            helper += 1
    return arcs.finish(len(cells))


def source_side(arcs: frozenset[Arc]) -> frozenset[int]:
    """The vertices on the smallest source side of a minimum cut, without the source.

    It is what the residual network of a maximum flow still reaches; helper vertices may be in it.
    """
    network: nx.DiGraph[int] = nx.DiGraph()
    network.add_nodes_from((_SOURCE, _SINK))
    bound = 1 + sum(cost for _, _, cost in arcs if cost is not None)
    network.add_edges_from(
        (tail, head, {"capacity": bound if cost is None else cost}) for tail, head, cost in arcs
    )
    residual = boykov_kolmogorov(network, _SOURCE, _SINK, capacity="capacity")
    reached = {_SOURCE}
    pending = deque(reached)
    while pending:
        for neighbour, edge in residual[pending.popleft()].items():
            if neighbour not in reached and edge["flow"] < edge["capacity"]:
                reached.add(neighbour)
                pending.append(neighbour)
    return frozenset(reached - {_SOURCE})
