"""What rules on numeric hazards share: hazards as findings, and advice on what to keep wide."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.analysis import Hazard
from mpgraph.auditing.context import Context
from mpgraph.auditing.finding import Severity
from mpgraph.auditing.rules.rule import Found

__all__ = ["from_hazard", "from_hazards", "keep_wide", "severity_of"]


def from_hazards(context: Context, *kinds: str) -> Iterator[Found]:
    """The hazards of some kinds, each value once per kind and dtype."""
    for hazard in context.hazards(*kinds):
        yield from_hazard(context, hazard)


def from_hazard(context: Context, hazard: Hazard, finding: str = "") -> Found:
    """A hazard as a finding; another text for it where one is given."""
    value = hazard.subject
    return Found(
        finding=finding or hazard.finding,
        evidence=hazard.evidence,
        suggestion=keep_wide(context, value, hazard.dtype),
        value=value,
        measured=hazard.measured,
        severity=None if value is None else severity_of(context, value, hazard.dtype),
    )


def severity_of(context: Context, value: ir.Value, dtype: ir.DataType) -> Severity | None:
    """A note where the value would first have to be converted; else that of the rule."""
    return None if context.is_low(value, dtype) else "note"


def keep_wide(context: Context, value: ir.Value | None, dtype: ir.DataType) -> str:
    """Which node to keep in float32, and how."""
    node = None if value is None else _node_of(context, value)
    if value is None or node is None:
        return "keep what takes it in float32"
    option = _option(node)
    if context.is_low(value, dtype):
        return f"compute {context.subject.describe(node)} in float32: convert again with {option}"
    return (
        f"keep {context.subject.describe(node)} in float32 when converting: {option} "
        "(mpgraph convert does so by itself)"
    )


def _node_of(context: Context, value: ir.Value) -> ir.Node | None:
    """The node that must be wide: that which takes a constant, else that which writes the value."""
    producer = value.producer()
    if producer is not None and value not in context.weights.tensors:
        return producer
    return next((use.node for use in value.uses()), producer)


def _option(node: ir.Node) -> str:
    if node.name:
        return f"--nodes-to-exclude '{node.name}'"
    return f"--op-types-to-exclude {node.op_type}"
