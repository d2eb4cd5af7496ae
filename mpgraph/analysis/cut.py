"""Cast placement: the labelling of cells with the least modelled cost.

With one low dtype the optimum is a minimum cut (Kolmogorov and Zabih, "What energy functions can be
minimized via graph cuts?", 2004): a cell on the source side takes the low dtype, a cell on the sink
side keeps what it has, and two helper vertices per value charge a cast once however many consumers
share it. With several low dtypes each is expanded in turn over the current labelling until no
expansion helps (Boykov, Veksler and Zabih, "Fast approximate energy minimization via graph cuts",
2001). Where two labellings cost the same, the one that changes fewer cells wins. Components that
look the same, such as the layers of a transformer, are solved once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import networkx as nx

from mpgraph import ir
from mpgraph.analysis.cost import Edge, Traffic, modelled_bytes
from mpgraph.analysis.flow_network import Arc, component_arcs, source_side

__all__ = ["place"]


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
    lows = sorted(
        {
            dtype
            for choice, label in zip(allowed, labels, strict=True)
            if len(choice) > 1
            for dtype in choice
            if dtype != label
        }
    )
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
    solved: dict[frozenset[Arc], frozenset[int]] = {}
    for cells, edges in _components(traffic.edges, free):
        arcs = component_arcs(traffic, labels, low, cells, edges)
        if arcs not in solved:
            solved[arcs] = source_side(arcs)
        for position in solved[arcs]:
            if position < len(cells):
                expanded[cells[position]] = low
    return expanded


def _components(edges: Iterable[Edge], free: set[int]) -> Iterable[tuple[list[int], list[Edge]]]:
    """The free cells that depend on each other, in order, with the edges that touch them."""
    sets = nx.utils.UnionFind(free)
    touching: list[tuple[int, Edge]] = []
    for edge in edges:
        members = [cell for cell in (edge.producer, *edge.consumers) if cell in free]
        if members:
            sets.union(*members)
            touching.append((members[0], edge))
    grouped: dict[int, tuple[list[int], list[Edge]]] = {}
    for cell in sorted(free):
        grouped.setdefault(sets[cell], ([], []))[0].append(cell)
    for cell, edge in touching:
        grouped[sets[cell]][1].append(edge)
    return grouped.values()
