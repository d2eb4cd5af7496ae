"""Which values a graph defines, and who reads them."""

from __future__ import annotations

import onnx_ir

__all__ = ["defined_values", "only_reader"]


def defined_values(graph: onnx_ir.Graph) -> list[onnx_ir.Value]:
    """The inputs of a graph and the results of its nodes, in its order; no initializers."""
    return [*graph.inputs, *(value for node in graph for value in node.outputs)]


def only_reader(value: onnx_ir.Value) -> onnx_ir.Node | None:
    """The node that alone reads a value, by one operand; it may be in a body of another graph.

    Returns:
        The node; None where there are several, or none, or the value is an output of its graph.
    """
    uses = value.uses()
    if len(uses) != 1 or value.is_graph_output():
        return None
    (use,) = uses
    return use.node
