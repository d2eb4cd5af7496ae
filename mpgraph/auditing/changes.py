"""What became of each node, input and output of a model in another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal

from mpgraph.auditing.facts import NodeFact, ValueFact, WeightFact
from mpgraph.auditing.graph_index import MAIN, GraphIndex
from mpgraph.auditing.links import sources
from mpgraph.auditing.matching import Matching
from mpgraph.auditing.places import node_places
from mpgraph.auditing.report import AuditReport

__all__ = ["KINDS", "Change", "ChangeKind", "find_changes"]

ChangeKind = Literal[
    "interface",
    "operator",
    "dtype",
    "storage",
    "weights",
    "attributes",
    "operands",
    "provider",
    "renamed",
    "inserted",
    "removed",
]

KINDS: Mapping[ChangeKind, str] = {
    "interface": "another opset, input or output of the model",
    "operator": "another operator",
    "dtype": "computes in another dtype",
    "storage": "constants stored in another dtype",
    "weights": "constants of other shapes or magnitudes",
    "attributes": "other attributes",
    "operands": "reads another value",
    "provider": "another provider runs it, or none",
    "renamed": "another name",
    "inserted": "only in the second model",
    "removed": "only in the first model",
}
"""What each kind of change means."""

_CASTS = ("Cast", "CastLike")


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is not as it was.

    Attributes:
        kind: What changed; ``interface`` is about an opset, input or output of the model.
        node: A description of the node in the second model, of a removed one in the first; the name
            of the opset, input or output.
        scope: The module path of that node.
        before: The key of the node in the first model; empty for inserted nodes and interfaces.
        after: The key of the node in the second model; empty for removed nodes and interfaces.
        old: What it was; empty where there was nothing.
        new: What it is; empty where there is nothing.
        reason: The pass and rule that put an inserted node there; empty where none says so.
    """

    kind: ChangeKind
    node: str
    scope: str
    before: str
    after: str
    old: str
    new: str
    reason: str = ""


def find_changes(before: AuditReport, after: AuditReport, matching: Matching) -> Iterator[Change]:
    """What changed: the interface, then nodes in the order of ``after``, removed ones last."""
    yield from _interface(before, after)
    weights = _Constants(before, matching.before), _Constants(after, matching.after)
    found = set(matching.twins)
    operands = _Operands(matching, found)
    places = node_places(before), node_places(after)
    for number, twin in enumerate(matching.twins):
        node = after.nodes[number]
        if twin < 0:
            change = _change("inserted", node, ("", node.key), "", _operator(node))
            yield replace(change, reason=node.origin)
            continue
        old = before.nodes[twin]
        for kind, was, now in (
            *_own_changes(old, node),
            *_moves(places[0].get(old.key), places[1].get(node.key)),
            *_constant_changes(weights[0].of(twin), weights[1].of(number)),
            *operands.changes(twin, number),
        ):
            yield _change(kind, node, (old.key, node.key), was, now)
    for number, node in enumerate(before.nodes):
        if number not in found:
            yield _change("removed", node, (node.key, ""), _operator(node), "")


_Told = tuple[ChangeKind, str, str]


def _change(kind: ChangeKind, node: NodeFact, keys: tuple[str, str], was: str, now: str) -> Change:
    return Change(kind, _described(node), node.scope, *keys, was, now)


def _described(node: NodeFact) -> str:
    if node.name:
        return f"{node.name} ({node.op_type})"
    path, _, place = node.key.rpartition("#")
    return f"{node.op_type} #{place} in {path}"


def _own_changes(old: NodeFact, new: NodeFact) -> Iterator[_Told]:
    if (old.domain, old.op_type) != (new.domain, new.op_type):
        yield "operator", _operator(old), _operator(new)
    elif old.attributes != new.attributes and not (
        old.op_type in _CASTS and old.dtype != new.dtype
    ):
        yield "attributes", old.attributes, new.attributes
    if old.dtype != new.dtype:
        yield ("storage" if new.op_type == "Constant" else "dtype"), old.dtype, new.dtype
    if old.name != new.name:
        yield "renamed", old.name, new.name


def _moves(was: str | None, now: str | None) -> Iterator[_Told]:
    if was and now and was != now:
        yield "provider", was, now


def _operator(node: NodeFact) -> str:
    return f"{node.domain}::{node.op_type}" if node.domain else node.op_type


class _Constants:
    """The constants that each node of a model computes with, behind casts and quantizers too."""

    def __init__(self, report: AuditReport, index: GraphIndex) -> None:
        self._index = index
        self._sources = sources(index)
        self._weights = {
            index.value_number(weight.graph, weight.name): weight for weight in report.weights
        }

    def of(self, node: int) -> Sequence[WeightFact]:
        values = (self._sources[value] for value in self._index.inputs[node] if value >= 0)
        return [self._weights[value] for value in values if value in self._weights]


def _constant_changes(old: Sequence[WeightFact], new: Sequence[WeightFact]) -> Iterator[_Told]:
    stored = _stored(old), _stored(new)
    if stored[0] != stored[1]:
        yield "storage", *stored
    elif len(old) != len(new):
        yield "weights", f"{len(old)} constants", f"{len(new)} constants"
    else:
        for one, other in zip(old, new, strict=True):
            is_read = one.range is not None and other.range is not None
            if one.shape != other.shape or (is_read and one.range != other.range):
                yield "weights", _content(one), _content(other)


def _stored(weights: Sequence[WeightFact]) -> str:
    return ", ".join(sorted({weight.stored for weight in weights}))


def _content(weight: WeightFact) -> str:
    shape = f"{weight.name} {list(weight.shape)}"
    if weight.range is None:
        return shape
    return f"{shape} in [{weight.range.minimum:.6g}, {weight.range.maximum:.6g}]"


class _Operands:
    """Whether nodes read the same values; what reads a new or removed node says that already."""

    def __init__(self, matching: Matching, kept: set[int]) -> None:
        self._matching = matching
        self._kept = kept
        self._sources = sources(matching.before), sources(matching.after)

    def changes(self, before: int, after: int) -> Iterator[_Told]:
        indexes = self._matching.before, self._matching.after
        if indexes[0].nodes[before].op_type != indexes[1].nodes[after].op_type:
            return
        pairs = zip_longest(indexes[0].inputs[before], indexes[1].inputs[after], fillvalue=-1)
        for was, now in pairs:
            one, other = self._known_before(was), self._known_after(now)
            if one is not None and other is not None and one != other:
                yield "operands", _value_name(indexes[0], was), _value_name(indexes[1], now)

    def _known_before(self, value: int) -> int | None:
        if value < 0:
            return -1
        source = self._sources[0][value]
        producer = self._matching.before.producers[source]
        is_anonymous = source in self._matching.ids_before
        return None if is_anonymous or (producer >= 0 and producer not in self._kept) else source

    def _known_after(self, value: int) -> int | None:
        if value < 0:
            return -1
        found = self._matching.ids_after.get(self._sources[1][value])
        return found if isinstance(found, int) else None


def _value_name(index: GraphIndex, value: int) -> str:
    return index.values[value].name if value >= 0 else ""


def _interface(before: AuditReport, after: AuditReport) -> Iterator[Change]:
    """Opsets, and inputs and outputs of the main graph, that are other, new or gone."""
    opsets = before.opset_imports, after.opset_imports
    for domain in dict.fromkeys((*opsets[0], *opsets[1])):
        old, new = (str(imports.get(domain, "")) for imports in opsets)
        if old != new:
            yield Change("interface", f"opset {domain or 'ai.onnx'}", "", "", "", old, new)
    faces = _face(before), _face(after)
    for kind, name in dict.fromkeys((*faces[0], *faces[1])):
        was, now = (_type(face.get((kind, name))) for face in faces)
        if was != now:
            yield Change("interface", f"{kind} {name}", "", "", "", was, now)


def _face(report: AuditReport) -> Mapping[tuple[str, str], ValueFact]:
    return {
        (value.kind, value.name): value
        for value in report.values
        if value.graph == MAIN and value.kind in ("input", "output")
    }


def _type(value: ValueFact | None) -> str:
    if value is None:
        return ""
    kind = value.type or "unknown"
    if value.shape is None:
        return kind
    return f"{kind} [{', '.join('?' if one is None else str(one) for one in value.shape)}]"
