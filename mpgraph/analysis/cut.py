"""Cast placement: the labelling of cells with the least modelled cost.

With one low dtype the optimum is a minimum cut (Kolmogorov and Zabih, "What energy functions can be
minimized via graph cuts?", 2004): a cell on the source side takes the low dtype, a cell on the sink
side keeps what it has, and two helper vertices per value charge a cast once however many consumers
share it. With several low dtypes each is expanded in turn over the current labelling until no
expansion helps (Boykov, Veksler and Zabih, "Fast approximate energy minimization via graph cuts",
2001). Where two labellings cost the same, the one that changes fewer cells wins.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import networkx as nx
from networkx.algorithms.flow import boykov_kolmogorov

from mpgraph import ir
from mpgraph.analysis.cost import Edge, Traffic, modelled_bytes

__all__ = ["place"]

_SOURCE, _SINK = "low", "kept"
_Vertex = int | str | tuple[str, int, ir.DataType]


def place(
    traffic: Traffic,
    labels: Sequence[ir.DataType],
    allowed: Sequence[frozenset[ir.DataType]],
) -> list[ir.DataType]:
    """Choose a dtype for every cell.

    Args:
        traffic: What nodes and casts cost.
        labels: The starting dtype of each cell; it is in ``allowed``.
        allowed: The dtypes that each cell may take; a single one pins it.

    Returns:
        The dtypes of all cells. No labelling costs less when there is one low dtype beside the
        starting ones; with several, no expansion of a single dtype costs less.
    """
    current = list(labels)
    lows = sorted({dtype for choice, label in zip(allowed, labels, strict=True)
                   if len(choice) > 1 for dtype in choice if dtype != label})
    improved = bool(lows)
    while improved:
        improved = False
        for low in lows:
            expanded = _expand(traffic, current, allowed, low)
            if expanded != current and (
                modelled_bytes(traffic, expanded) < modelled_bytes(traffic, current)
            ):
                current = expanded
                improved = len(lows) > 1
    return current


def _expand(
    traffic: Traffic,
    labels: Sequence[ir.DataType],
    allowed: Sequence[frozenset[ir.DataType]],
    low: ir.DataType,
) -> list[ir.DataType]:
    """Let every cell that may take ``low`` keep its label or take it, at the least cost."""
    free = {
        cell
        for cell, choice in enumerate(allowed)
        if low in choice and len(choice) > 1 and labels[cell] != low
    }
    expanded = list(labels)
    for cells, edges in _components(traffic.edges, free):
        network = _network(traffic, labels, low, cells, edges)
        for cell in _source_side(network):
            if isinstance(cell, int):
                expanded[cell] = low
    return expanded


def _components(
    edges: Iterable[Edge], free: set[int]
) -> Iterable[tuple[set[int], list[tuple[int, Edge]]]]:
    """The free cells that depend on each other, with the edges that touch them."""
    sets = nx.utils.UnionFind(free)
    touching: list[tuple[int, int, Edge]] = []
    for number, edge in enumerate(edges):
        members = [cell for cell in (edge.producer, *edge.consumers) if cell in free]
        if members:
            sets.union(*members)
            touching.append((members[0], number, edge))
    grouped: dict[int, tuple[set[int], list[tuple[int, Edge]]]] = {}
    for cell in free:
        grouped.setdefault(sets[cell], (set(), []))[0].add(cell)
    for cell, number, edge in touching:
        grouped[sets[cell]][1].append((number, edge))
    return grouped.values()


def _network(
    traffic: Traffic,
    labels: Sequence[ir.DataType],
    low: ir.DataType,
    free: set[int],
    edges: Iterable[tuple[int, Edge]],
) -> "nx.DiGraph[_Vertex]":
    """The flow network whose minimum cut is the best expansion of one component."""
    capacities: dict[tuple[_Vertex, _Vertex], int] = {}
    unbounded: list[tuple[_Vertex, _Vertex]] = []

    def charge(tail: _Vertex, head: _Vertex, cost: int) -> None:
        if cost and tail != head and tail != _SINK and head != _SOURCE:
            capacities[tail, head] = capacities.get((tail, head), 0) + cost

    for cell in free:
        charge(_SOURCE, cell, traffic.node_bytes(cell, labels[cell]))
        charge(cell, _SINK, traffic.node_bytes(cell, low))
    for number, edge in edges:
        source = labels[edge.producer]
        movable = edge.producer in free
        producer_is_low: _Vertex = edge.producer if movable else _side(source == low)
        takes_low = [cell for cell in edge.consumers if cell in free or labels[cell] == low]
        if takes_low:
            helper: _Vertex = ("narrowed", number, low)
            charge(helper, producer_is_low, traffic.cast_bytes(edge.elements, source, low))
            unbounded += [(cell if cell in free else _SOURCE, helper) for cell in takes_low]
        for kept in {labels[cell] for cell in edge.consumers} - {low}:
            helper = ("kept", number, kept)
            keeps = [cell for cell in edge.consumers if labels[cell] == kept]
            if source != kept and movable and not free.issuperset(keeps):
                # The cast is certain; only what it reads depends on the producer.
                charge(_SOURCE, edge.producer, traffic.cast_bytes(edge.elements, source, kept))
                charge(edge.producer, _SINK, traffic.cast_bytes(edge.elements, low, kept))
                continue
            differs: _Vertex = producer_is_low if source == kept else _SOURCE
            other = low if source == kept else source
            charge(differs, helper, traffic.cast_bytes(edge.elements, other, kept))
            unbounded += [(helper, cell if cell in free else _SINK) for cell in keeps]
    network: nx.DiGraph[_Vertex] = nx.DiGraph()
    network.add_nodes_from((_SOURCE, _SINK))
    network.add_edges_from(
        (tail, head, {"capacity": cost}) for (tail, head), cost in capacities.items()
    )
    bound = 1 + sum(capacities.values())
    network.add_edges_from((tail, head, {"capacity": bound}) for tail, head in unbounded)
    return network


def _side(is_low: bool) -> str:
    return _SOURCE if is_low else _SINK


def _source_side(network: "nx.DiGraph[_Vertex]") -> set[_Vertex]:
    """The smallest source side of a minimum cut: what the residual network still reaches."""
    residual = boykov_kolmogorov(network, _SOURCE, _SINK, capacity="capacity")
    reached: set[_Vertex] = {_SOURCE}
    pending: deque[_Vertex] = deque(reached)
    while pending:
        vertex = pending.popleft()
        for neighbour, edge in residual[vertex].items():
            if neighbour not in reached and edge["flow"] < edge["capacity"]:
                reached.add(neighbour)
                pending.append(neighbour)
    return reached
