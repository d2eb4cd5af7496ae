"""The levels that the page shows: layers, the graphs inside nodes, and segments of long levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from mpgraph.auditing import LayerFact, Totals
from mpgraph.auditing.graph_index import MAIN, GraphIndex
from mpgraph.report.audit_html.homes import home_paths
from mpgraph.report.audit_html.segments import crossings, cut_points, segment_size

__all__ = ["MOST_ITEMS", "Level", "follow_levels", "view_levels"]

MOST_ITEMS = 300
"""A level with more layers and nodes than this is cut into segments."""


@dataclass(frozen=True, slots=True)
class Level:
    """One level of the picture.

    Attributes:
        name: What it is called in its parent.
        path: The module path of a layer; of another level that of the layer around it.
        kind: ``layer``: as the exporter has it, the model among them. ``graph``: the nodes of a
            subgraph or function. ``segment``: a run of consecutive layers and nodes.
        nodes: Numbers of the nodes that stand directly in it.
        children: The levels in it.
        totals: Sums of a layer; None for other levels.
        owner: The number of the node that holds the subgraph, -1 without one.
    """

    name: str
    path: str
    kind: Literal["layer", "graph", "segment"]
    nodes: tuple[int, ...]
    children: tuple[Level, ...] = ()
    totals: Totals | None = None
    owner: int = -1

    def all_nodes(self) -> Iterator[int]:
        """The numbers of the nodes in it and below it."""
        yield from self.nodes
        for child in self.children:
            yield from child.all_nodes()


Item = Level | int


def view_levels(layers: LayerFact, index: GraphIndex) -> Level:
    """The levels of a report: none has more than about ``MOST_ITEMS`` layers and nodes."""
    return _segmented(_with_graphs(layers, index), index)


def follow_levels(
    layers: LayerFact, index: GraphIndex, model: Level, match: Sequence[int]
) -> Level:
    """The levels of a second report, cut into the same segments as those of the first.

    Args:
        layers: The layer tree of the second report.
        index: The nodes of the second report.
        model: The levels of the first report.
        match: For each node of the second report the number of its node in the first, or -1.
    """
    twins = {level.path: level for level in _walk(model) if level.kind == "layer"}
    return _followed(_with_graphs(layers, index), index, twins, match)


def _walk(level: Level) -> Iterator[Level]:
    yield level
    for child in level.children:
        yield from _walk(child)


def _with_graphs(layers: LayerFact, index: GraphIndex) -> Level:
    """The layers, with every node in its home and those of inner graphs in levels of their own."""
    paths = [""] * len(index.nodes)
    for layer in _layers(layers):
        for key in layer.nodes:
            if (number := index.node_number(key)) >= 0:
                paths[number] = layer.path
    members: dict[str, list[int]] = {}
    for number, path in enumerate(home_paths(paths, index)):
        members.setdefault(path, []).append(number)
    return _layer_level(layers, members, index)


def _layers(layer: LayerFact) -> Iterator[LayerFact]:
    yield layer
    for child in layer.children:
        yield from _layers(child)


def _layer_level(
    layer: LayerFact, members: Mapping[str, Sequence[int]], index: GraphIndex
) -> Level:
    groups: dict[str, list[int]] = {}
    for number in members.get(layer.path, ()):
        groups.setdefault(index.nodes[number].graph, []).append(number)
    home = min(groups, key=len, default=MAIN) if layer.path else MAIN
    own = groups.pop(home, [])
    children = [_layer_level(child, members, index) for child in layer.children]
    children += _graph_levels(layer.path, home, groups, index)
    return Level(layer.name, layer.path, "layer", tuple(own), tuple(children), layer.totals)


def _graph_levels(
    path: str, home: str, groups: Mapping[str, Sequence[int]], index: GraphIndex
) -> list[Level]:
    """A level for each graph but the home one, in the level of the graph around it."""
    inner: dict[str, list[str]] = {}
    for graph in groups:
        around = next((each for each in index.enclosing(graph) if each in groups), home)
        inner.setdefault(around, []).append(graph)

    def level(graph: str) -> Level:
        children = tuple(level(each) for each in inner.get(graph, ()))
        name, owner = index.graph_name(graph), index.owner(graph)
        return Level(name, path, "graph", tuple(groups[graph]), children, owner=owner)

    return [level(graph) for graph in inner.get(home, ())]


def _segmented(level: Level, index: GraphIndex) -> Level:
    children = [_segmented(child, index) for child in level.children]
    items = _items(level.nodes, children, index)
    return _replaced(level, items if len(items) <= MOST_ITEMS else _cut_up(items, level, index))


def _cut_up(items: Sequence[Item], level: Level, index: GraphIndex) -> list[Item]:
    size = segment_size(len(items))
    parts: list[Item] = []
    for run in _runs(items, size):
        parts += run if len(run) <= size // 2 else _cut(run, size, level.path, index)
    segments = [part for part in parts if not isinstance(part, int) and not part.name]
    names = {id(part): f"part {at} of {len(segments)}" for at, part in enumerate(segments, 1)}
    return [
        part if isinstance(part, int) or part.name else replace(part, name=names[id(part)])
        for part in parts
    ]


def _items(nodes: Sequence[int], children: Sequence[Level], index: GraphIndex) -> list[Item]:
    """Nodes and levels in the order of the index."""
    order = index.order
    keyed: list[tuple[int, int, Item]] = [(order[node], 0, node) for node in nodes]
    for at, child in enumerate(children):
        first = min((order[node] for node in child.all_nodes()), default=len(order))
        keyed.append((first, at, child))
    return [item for _, _, item in sorted(keyed, key=lambda each: each[:2])]


def _replaced(level: Level, items: Sequence[Item]) -> Level:
    return Level(
        level.name,
        level.path,
        level.kind,
        tuple(item for item in items if isinstance(item, int)),
        tuple(item for item in items if not isinstance(item, int)),
        level.totals,
        level.owner,
    )


def _runs(items: Sequence[Item], size: int) -> Iterator[list[Item]]:
    """Runs of small items; a layer as large as a segment stays alone and ends a run."""
    run: list[Item] = []
    for item in items:
        if not isinstance(item, int) and sum(1 for _ in item.all_nodes()) >= size:
            if run:
                yield run
            yield [item]
            run = []
        else:
            run.append(item)
    if run:
        yield run


def _cut(run: Sequence[Item], size: int, path: str, index: GraphIndex) -> Iterator[Item]:
    places = {
        node: at
        for at, item in enumerate(run)
        for node in ([item] if isinstance(item, int) else item.all_nodes())
    }
    last: dict[int, tuple[int, int]] = {}
    for node, at in places.items():
        for value in index.inputs[node]:
            start = places.get(index.producers[value]) if value >= 0 else None
            if start is not None and start < at:
                last[value] = (start, max(at, last.get(value, (0, 0))[1]))
    cuts = cut_points(crossings(len(run), last.values()), size)
    for start, stop in pairwise([0, *cuts, len(run)]):
        yield _replaced(Level("", path, "segment", ()), run[start:stop])


def _followed(
    level: Level, index: GraphIndex, twins: Mapping[str, Level], match: Sequence[int]
) -> Level:
    children = tuple(_followed(child, index, twins, match) for child in level.children)
    twin = twins.get(level.path) if level.kind == "layer" else None
    parts = [child for child in twin.children if child.kind == "segment"] if twin else []
    items = _items(level.nodes, children, index)
    if not parts:
        is_long = len(items) > 2 * MOST_ITEMS
        return _replaced(level, _cut_up(items, level, index) if is_long else items)
    homes = {node: at for at, part in enumerate(parts) for node in part.all_nodes()}
    stay: list[Item] = []
    filled: list[list[Item]] = [[] for _ in parts]
    current = 0
    for item in items:
        home = _home(item, homes, match)
        if home is None and not isinstance(item, int):
            stay.append(item)
            continue
        current = current if home is None else home
        filled[current].append(item)
    made = [
        _replaced(Level(part.name, part.path, "segment", ()), inside)
        for part, inside in zip(parts, filled, strict=True)
    ]
    return _replaced(level, [*stay, *made])


def _home(item: Item, homes: Mapping[int, int], match: Sequence[int]) -> int | None:
    nodes = [item] if isinstance(item, int) else item.all_nodes()
    return next((homes[match[node]] for node in nodes if match[node] in homes), None)
