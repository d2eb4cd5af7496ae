"""What a conversion decided about the nodes of an audited model, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from mpgraph.auditing.facts import NodeFact
from mpgraph.auditing.report import AuditReport
from mpgraph.plan import Assignment, Plan
from mpgraph.quant import PlannedNode, QuantizationPlan

__all__ = ["with_decisions"]


class _Place(Protocol):
    @property
    def key(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def op_type(self) -> str: ...


@dataclass(frozen=True)
class _Decided:
    """What was decided about one place, in words."""

    key: str
    name: str
    op_type: str
    words: str


def with_decisions(
    report: AuditReport, plan: Plan, quantization: QuantizationPlan | None = None
) -> AuditReport:
    """The report with what a conversion decided about each node.

    It may be about the model as it was or as it became. A node is found by its graph, name and
    operator. Nodes without a name, or that share all three, are found by position, in graphs whose
    nodes are where the plan says.

    Args:
        report: The report.
        plan: The decisions about float dtypes.
        quantization: The decisions about quantization.
    """
    floats = [_assigned(one) for one in plan.assignments if one.op_type]
    quantized = [] if quantization is None else [_quantized(one) for one in quantization.nodes]
    found: dict[str, list[str]] = {}
    for decided in (floats, quantized):
        for key, words in _match(report.nodes, decided).items():
            found.setdefault(key, []).append(words)
    nodes = (
        replace(node, decision="; ".join(found[node.key])) if node.key in found else node
        for node in report.nodes
    )
    return replace(report, nodes=tuple(nodes))


def _assigned(one: Assignment) -> _Decided:
    by = ": ".join(part for part in (one.stage, one.rule) if part)
    lost = f", instead of {', '.join(reversed(one.overruled))}" if one.overruled else ""
    return _Decided(one.key, one.name, one.op_type, f"{one.dtype} by {by}, {one.reason}{lost}")


def _quantized(one: PlannedNode) -> _Decided:
    return _Decided(
        one.key, one.name, one.op_type, f"{one.mode} in the form {one.form}, {one.reason}"
    )


def _match(nodes: Iterable[NodeFact], decided: Iterable[_Decided]) -> Mapping[str, str]:
    """The words about each node, by its key."""
    nodes, decided = tuple(nodes), tuple(decided)
    by_name = {_identity(one): one for one in decided}
    by_key = {one.key: one for one in decided}
    counts = Counter(map(_identity, decided))
    present = Counter(map(_identity, nodes))
    moved = _moved_graphs(nodes, by_key)
    found: dict[str, str] = {}
    for node in nodes:
        identity = _identity(node)
        if node.name and counts[identity] == present[identity] == 1:
            found[node.key] = by_name[identity].words
        elif node.graph not in moved and node.key in by_key:
            found[node.key] = by_key[node.key].words
    return found


def _identity(place: _Place) -> tuple[str, str, str]:
    return place.key.rpartition("#")[0], place.name, place.op_type


def _moved_graphs(nodes: Iterable[NodeFact], by_key: Mapping[str, _Decided]) -> set[str]:
    """The graphs in which some node is not where the plan says."""
    there = {node.key: (node.name, node.op_type) for node in nodes}
    return {
        key.rpartition("#")[0]
        for key, one in by_key.items()
        if there.get(key) != (one.name, one.op_type)
    }
