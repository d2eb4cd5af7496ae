"""What of a plan is still to be carried out."""

from __future__ import annotations

from mpgraph import ir
from mpgraph.quant.placement.given import already_quantized
from mpgraph.quant.plan import QuantizationPlan
from mpgraph.quant.planned import Form, PlannedNode

__all__ = ["pending"]


def pending(plan: QuantizationPlan, *forms: Form) -> list[tuple[PlannedNode, ir.Node]]:
    """The nodes that a plan quantizes in one of some forms and that are not quantized yet.

    Nodes that only hand quantized numbers on are left out: they follow those that multiply.
    """
    return [
        (planned, node)
        for planned, node in plan.nodes_of(*forms)
        if planned.counts and node.graph is not None and not already_quantized(node)
    ]
