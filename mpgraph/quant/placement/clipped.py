"""Results behind the Relu or Clip that a quantized kernel takes over."""

from __future__ import annotations

from mpgraph import ir

__all__ = ["before_clip", "behind_clip", "clipped", "is_captured"]


def clipped(node: ir.Node) -> ir.Value:
    """The result of a node, behind the Relu or Clip that alone reads it."""
    return behind_clip(node.outputs[0])


def behind_clip(value: ir.Value) -> ir.Value:
    """A value, behind the Relu or Clip that alone reads it."""
    reader = ir.only_reader(value)
    return value if reader is None or reader.op_type not in ("Clip", "Relu") else reader.outputs[0]


def before_clip(value: ir.Value) -> ir.Value:
    """A value, before the Relu or Clip that computes it."""
    producer = value.producer()
    if producer is None or producer.op_type not in ("Clip", "Relu"):
        return value
    return producer.inputs[0] or value


def is_captured(node: ir.Node) -> bool:
    """Whether a body of control flow reads a result of a node, or what Relu or Clip make of it."""
    results = {*node.outputs, clipped(node)}
    return any(use.node.graph is not node.graph for value in results for use in value.uses())
