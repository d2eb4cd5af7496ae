"""Removes what nothing reads any more."""

from __future__ import annotations

from mpgraph import ir

__all__ = ["remove_unread"]


def remove_unread(value: ir.Value | None) -> None:
    """Remove a constant, or the nodes that computed a value, where nothing reads them."""
    pending = [value]
    while pending:
        value = pending.pop()
        if value is None or value.uses() or value.is_graph_output() or value.is_graph_input():
            continue
        node, graph = value.producer(), value.graph
        if node is None:
            if graph is not None and value.is_initializer():
                del graph.initializers[value.name or ""]
            continue
        if node.graph is None or any(one.uses() or one.is_graph_output() for one in node.outputs):
            continue
        pending.extend(node.inputs)
        node.graph.remove(node, safe=True)
