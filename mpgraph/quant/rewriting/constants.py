"""Constants that take the place of others."""

from __future__ import annotations

from mpgraph import ir
from mpgraph.quant.rewriting.unread import remove_unread
from mpgraph.quant.rewriting.writer import Writer

__all__ = ["put_constant"]


def put_constant(
    writer: Writer, node: ir.Node, index: int, name: str, tensor: ir.TensorProtocol
) -> ir.Value:
    """Let a node read a new constant, and remove what nothing reads any more.

    Args:
        writer: Adds the constant.
        node: The node; it gets the operand where it has none there.
        index: Which operand.
        name: The name of the constant; a free one like it where it is taken.
        tensor: What it holds.
    """
    graph = node.graph
    if graph is None:
        raise ValueError(f"{ir.describe(node)}: it belongs to no graph")
    former = node.inputs[index] if index < len(node.inputs) else None
    value = writer.constant(graph, name, tensor)
    if index >= len(node.inputs):
        node.resize_inputs(index + 1)
    node.replace_input_with(index, value)
    remove_unread(former)
    return value
