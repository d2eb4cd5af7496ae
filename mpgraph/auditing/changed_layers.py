"""The layers of two models in which something changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mpgraph.auditing.changes import Change
from mpgraph.auditing.facts import LayerFact, Totals

__all__ = ["ChangedLayer", "changed_layers"]

_SEPARATOR = "/"


@dataclass(frozen=True, slots=True)
class ChangedLayer:
    """One level of the tree of changed layers; the root has an empty path.

    Attributes:
        name: The last part of its path.
        path: Its module path from the root.
        changes: How many changes there are in it and below it, by kind.
        own: How many of all of them are of nodes that stand directly in it.
        before: Sums over its nodes in the first model; None where it has no such layer.
        after: The same of the second model.
        children: The levels below it in which something changed, those of the second model first.
    """

    name: str
    path: str
    changes: Mapping[str, int]
    own: int
    before: Totals | None
    after: Totals | None
    children: tuple[ChangedLayer, ...] = ()


def changed_layers(before: LayerFact, after: LayerFact, changes: Sequence[Change]) -> ChangedLayer:
    """Build the tree; a change counts in the layer of its node and in those above it."""
    counts: dict[str, Counter[str]] = {}
    own = Counter(change.scope for change in changes)
    for change in changes:
        for path in _upwards(change.scope):
            counts.setdefault(path, Counter())[change.kind] += 1
    return _built("", before, after, counts, own)


def _upwards(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition(_SEPARATOR)[0]
    yield ""


def _built(
    path: str,
    before: LayerFact | None,
    after: LayerFact | None,
    counts: Mapping[str, Counter[str]],
    own: Mapping[str, int],
) -> ChangedLayer:
    sides = [
        {} if side is None else {child.path: child for child in side.children}
        for side in (before, after)
    ]
    children = (
        _built(child, sides[0].get(child), sides[1].get(child), counts, own)
        for child in dict.fromkeys((*sides[1], *sides[0]))
        if child in counts
    )
    return ChangedLayer(
        path.rpartition(_SEPARATOR)[2],
        path,
        dict(counts.get(path, {})),
        own.get(path, 0),
        None if before is None else before.totals,
        None if after is None else after.totals,
        tuple(children),
    )
