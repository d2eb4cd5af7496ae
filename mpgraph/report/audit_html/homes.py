"""The layer in which each node is shown, also where the exporter left no module path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from mpgraph.auditing.graph_index import MAIN, GraphIndex

__all__ = ["home_paths"]

_ROUNDS = 8


def home_paths(paths: Sequence[str], index: GraphIndex) -> list[str]:
    """The layer of each node, by its module path or by its neighbours.

    Constants, and nodes that another tool put in, often have no module path. Such a node of the
    main graph goes to the innermost layer that holds all of its neighbours with a layer. Where most
    nodes have none, neighbours tell nothing, and all stay where they are.

    Args:
        paths: For each node the path of the layer in which it stands directly.
        index: The nodes and their links.
    """
    homes = list(paths)
    loose = [
        number
        for number, path in enumerate(paths)
        if not path and index.nodes[number].graph == MAIN
    ]
    computing = [node.op_type != "Constant" for node in index.nodes]
    if 2 * sum(computing[number] for number in loose) > sum(computing):
        return homes
    for _ in range(_ROUNDS):
        found = {number: _shared(homes, index, number) for number in loose}
        loose = [number for number in loose if not found[number]]
        changed = {number: path for number, path in found.items() if path}
        for number, path in changed.items():
            homes[number] = path
        if not changed or not loose:
            break
    return homes


def _shared(homes: Sequence[str], index: GraphIndex, number: int) -> str:
    around = {homes[each] for each in _neighbours(index, number)} - {""}
    levels = zip(*(path.split("/") for path in around), strict=False)
    return "/".join(level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels))


def _neighbours(index: GraphIndex, number: int) -> Iterator[int]:
    for value in index.inputs[number]:
        if value >= 0 and index.producers[value] >= 0:
            yield index.producers[value]
    for value in index.outputs[number]:
        if value >= 0:
            yield from index.consumers[value]
