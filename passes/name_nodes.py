"""Give every node of a graph a name of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.passmgr import Facts, Pass

__all__ = ["NameNodes"]


@dataclass(frozen=True)
class NameNodes(Pass):
    """Name nodes without a name after their operator, and number names that repeat in a graph.

    The first node of a name keeps it.
    """

    name: ClassVar[str] = "name-nodes"

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Name the nodes of every graph of the model, inner ones included."""
        namer = ir.Namer(model)
        changed = False
        for scope in ir.graphs(model):
            seen: set[str] = set()
            for node in scope.graph:
                if not node.name or node.name in seen:
                    node.name = namer.node_name(node.name or node.op_type)
                    changed = True
                seen.add(node.name)
        return changed
