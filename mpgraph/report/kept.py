"""Which nodes stayed wide, and for which reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mpgraph.plan import Assignment, Plan

__all__ = ["Kept", "kept_nodes", "node_assignments"]

_WIDE = ("float32", "float64")


@dataclass(frozen=True, slots=True)
class Kept:
    """Nodes that stayed wide for one reason.

    Attributes:
        dtype: The dtype they kept.
        reason: The reason, without what differs from node to node.
        example: The first node's own evidence; empty where there is none.
        nodes: How many.
    """

    dtype: str
    reason: str
    example: str
    nodes: int


def node_assignments(plan: Plan) -> Mapping[str, Assignment]:
    """One assignment per node by key, that of its main type variable; Cast nodes are left out."""
    found: dict[str, Assignment] = {}
    for one in plan.assignments:
        if one.op_type and one.op_type != "Cast":
            found.setdefault(one.key, one)
    return found


def kept_nodes(plan: Plan) -> tuple[Kept, ...]:
    """The nodes that were wide and stayed so, by reason, the most frequent first."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in node_assignments(plan).values():
        if one.dtype == one.before and one.dtype in _WIDE:
            reason, example = _reason(one)
            groups.setdefault((one.dtype, reason), []).append(example)
    kept = (
        Kept(dtype, reason, _first(examples), len(examples))
        for (dtype, reason), examples in groups.items()
    )
    return tuple(sorted(kept, key=lambda one: -one.nodes))


def _reason(one: Assignment) -> tuple[str, str]:
    """The reason without what is peculiar to the node, and that."""
    if one.stage == "numerics":
        finding, _, evidence = one.reason.partition(": ")
        return finding, evidence
    if one.stage == "target":
        text = one.reason.replace(f" for {one.op_type}", "").replace(f" of {one.op_type}", "")
        return text, one.op_type if text != one.reason else ""
    if one.stage == "rule":
        return f"{one.reason} ({one.rule})", ""
    if one.stage == "placement":
        return "a cast would cost more than it saves", ""
    return one.reason, ""


def _first(examples: Iterable[str]) -> str:
    return next(filter(None, examples), "")
