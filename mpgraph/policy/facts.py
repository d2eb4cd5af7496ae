"""What policies look at, read off a model."""

from __future__ import annotations

from mpgraph import ir
from mpgraph.policy.selectors import NodeFacts

__all__ = ["node_facts"]


def node_facts(model: ir.Model) -> dict[ir.Node, NodeFacts]:
    """The facts of every node of a model, subgraphs and functions included."""
    return {
        node: NodeFacts(
            name=node.name or "",
            op_type=node.op_type,
            domain=node.domain,
            scope=ir.module_scope(node),
            initializers=tuple(
                value.name or ""
                for value in node.inputs
                if value is not None and value.is_initializer()
            ),
        )
        for node in ir.nodes(model)
    }
