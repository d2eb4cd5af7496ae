"""A plan made for one model, carried over to its copy."""

from __future__ import annotations

from dataclasses import replace

from mpgraph import ir
from mpgraph.quant.plan import QuantizationPlan

__all__ = ["with_plan_of"]


def with_plan_of(plan: QuantizationPlan, model: ir.Model, copy: ir.Model) -> QuantizationPlan:
    """The plan of ``model`` with the nodes and graphs of a copy of it, ``ir.clone(model)``."""
    nodes = dict(zip(ir.nodes(model), ir.nodes(copy), strict=True))
    graphs = {
        one.graph: other.graph for one, other in zip(ir.graphs(model), ir.graphs(copy), strict=True)
    }
    return replace(
        plan,
        places={key: nodes[node] for key, node in plan.places.items()},
        graphs={path: graphs[graph] for path, graph in plan.graphs.items()},
    )
