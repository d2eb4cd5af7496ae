"""Neighbours that a search tries together."""

from __future__ import annotations

from collections.abc import Sequence

from mpgraph.quant.planned import PlannedNode

__all__ = ["neighbours"]


def neighbours(nodes: Sequence[PlannedNode], most: int) -> list[tuple[int, ...]]:
    """Nodes in groups: each that multiplies with those behind it that hand its numbers on.

    Where these are too many, groups that follow each other are joined. Nodes of two graphs are
    never in one group.

    Args:
        nodes: The nodes in the order in which the graphs hold them.
        most: How many groups there are at most, unless there are more graphs.

    Returns:
        The places of the nodes in ``nodes``, by group.
    """
    graphs = [node.key.rpartition("#")[0] for node in nodes]
    chains: list[list[int]] = []
    for place, node in enumerate(nodes):
        if not chains or node.counts or graphs[place] != graphs[place - 1]:
            chains.append([])
        chains[-1].append(place)
    count = max(most, 1) if len(chains) > most else len(chains)
    joined: dict[tuple[str, int], list[int]] = {}
    for place, chain in enumerate(chains):
        share = place * count // len(chains)
        joined.setdefault((graphs[chain[0]], share), []).extend(chain)
    return [tuple(group) for group in joined.values()]
