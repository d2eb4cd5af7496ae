"""Which node of one model is which of another, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from mpgraph.auditing import AuditReport, NodeFact
from mpgraph.report.audit_html.graph_index import GraphIndex

__all__ = ["Change", "changes", "match_nodes"]

ChangeKind = Literal["dtype", "storage", "operator", "provider", "inserted", "removed"]


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is not as it was.

    Attributes:
        kind: What changed.
        before: The number of the node in the first model; -1 for an inserted one.
        after: The number of the node in the second model; -1 for a removed one.
        old: What it was; empty for an inserted node.
        new: What it is; empty for a removed node.
    """

    kind: ChangeKind
    before: int
    after: int
    old: str
    new: str


def match_nodes(before: AuditReport, after: AuditReport) -> list[int]:
    """For each node of ``after`` the number of the same one in ``before``, or -1.

    Nodes are the same if they have the same name in the same graph and no other has it, or else if
    they write a value of the same name there.
    """
    by_name = {node.name: number for number, node in _uniquely_named(before)}
    named_after = {number for number, _ in _uniquely_named(after)}
    match = [-1] * len(after.nodes)
    for number in sorted(named_after):
        node = after.nodes[number]
        twin = by_name.get(node.name, -1)
        if twin >= 0 and before.nodes[twin].graph == node.graph:
            match[number] = twin
    taken = set(match)
    writers = {
        (node.graph, output): number
        for number, node in enumerate(before.nodes)
        if number not in taken
        for output in node.outputs
        if output
    }
    for number, node in enumerate(after.nodes):
        if match[number] < 0:
            found = (writers.pop((node.graph, output), -1) for output in node.outputs)
            match[number] = next((twin for twin in found if twin not in taken), -1)
            taken.add(match[number])
    return match


def changes(
    before: AuditReport,
    after: AuditReport,
    indexes: tuple[GraphIndex, GraphIndex],
    match: Sequence[int],
) -> Iterator[Change]:
    """What changed, in the order of ``after``, removed nodes last."""
    stored_before, stored_after = _storage(before, indexes[0]), _storage(after, indexes[1])
    for number, twin in enumerate(match):
        node = after.nodes[number]
        if twin < 0:
            yield Change("inserted", -1, number, "", node.op_type)
            continue
        old = before.nodes[twin]
        is_constant = old.op_type == node.op_type == "Constant"
        pairs: tuple[tuple[ChangeKind, str, str], ...] = (
            ("operator", old.op_type, node.op_type),
            ("storage" if is_constant else "dtype", old.dtype, node.dtype),
            ("storage", stored_before.get(twin, ""), stored_after.get(number, "")),
            ("provider", old.provider or old.placement, node.provider or node.placement),
        )
        for kind, was, now in pairs:
            if was != now and (was or kind != "provider") and (now or kind != "provider"):
                yield Change(kind, twin, number, was, now)
    kept = set(match)
    for number, node in enumerate(before.nodes):
        if number not in kept:
            yield Change("removed", number, -1, node.op_type, "")


def _uniquely_named(report: AuditReport) -> Iterator[tuple[int, NodeFact]]:
    counts = Counter(node.name for node in report.nodes)
    for number, node in enumerate(report.nodes):
        if node.name and counts[node.name] == 1:
            yield number, node


def _storage(report: AuditReport, index: GraphIndex) -> Mapping[int, str]:
    """The dtypes in which the constants of each node are stored."""
    stored = {index.value_number(each.graph, each.name): each.stored for each in report.weights}
    found = {}
    for number, inputs in enumerate(index.inputs):
        dtypes = sorted({stored[value] for value in inputs if value in stored})
        if dtypes:
            found[number] = ", ".join(dtypes)
    return found
