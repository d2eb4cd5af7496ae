"""Write into a model which dtype every value and node has, and why, for those who look at it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types
from mpgraph.analysis.compute_dtype import compute_dtype
from mpgraph.passmgr import Facts, Pass
from mpgraph.plan import Assignment, Labelling, Plan
from mpgraph.schema import to_ir_type

__all__ = ["AnnotateDtypes"]

_VALUES_IN_FUNCTIONS = 10
"""The version of the file format that can say something about a value inside a function."""


@dataclass(frozen=True)
class AnnotateDtypes(Pass):
    """Write the dtype of values and nodes, and the reason, into metadata that viewers show.

    A value gets ``mpgraph.dtype``, an intermediate one also its type where the model declares none;
    constants say theirs anyway. A node gets the dtype that it computes in, and the reason as
    ``mpgraph.reason``: what the plan of the conversion says, or which pass put the node there. What
    is computed stays as it is.
    """

    name: ClassVar[str] = "annotate-dtypes"
    keeps: ClassVar[tuple[type, ...]] = (TypeFlow,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Annotate every graph of the model; bodies that have several types get none."""
        flow = infer_types(model)
        reasons = _planned(facts)
        changed = False
        for scope in ir.graphs(model):
            function = scope.function
            known = function is None or function.identifier() not in flow.polymorphic
            for node in scope.graph:
                dtype = compute_dtype(node, flow) if known else None
                changed |= ir.note_dtype(node, dtype)
                changed |= _note_reason(node, reasons)
            if function is None or model.ir_version >= _VALUES_IN_FUNCTIONS:
                for value in _values(scope.graph):
                    changed |= _note_value(value, flow if known else TypeFlow())
        return changed


def _planned(facts: Facts) -> Mapping[ir.Node, Assignment]:
    """What the plan that was carried out says about each node; empty where there is none."""
    plan, labelling = facts.find(Plan), facts.find(Labelling)
    if plan is None or labelling is None:
        return {}
    by_key = {one.key: one for one in plan.assignments}
    return {
        site.node: by_key[site.key]
        for cell in labelling.graph.cells
        for site in cell.sites
        if site.kind == "node" and site.node is not None and site.key in by_key
    }


def _note_reason(node: ir.Node, reasons: Mapping[ir.Node, Assignment]) -> bool:
    planned, origin = reasons.get(node), ir.origin(node)
    if planned is not None:
        rule = f" ({planned.rule})" if planned.rule else ""
        return ir.note_reason(node, f"{planned.stage}{rule}: {planned.reason}")
    if origin is not None:
        return ir.note_reason(node, ": ".join(filter(None, origin)))
    return False


def _values(graph: ir.Graph) -> Iterable[ir.Value]:
    """What a graph is given, and what its nodes give."""
    yield from graph.inputs
    for node in graph:
        yield from (value for value in node.outputs if value.name)


def _note_value(value: ir.Value, flow: TypeFlow) -> bool:
    found = flow.type(value)
    type_ = None if found is None else to_ir_type(found)
    if value.type is None and type_ is None:
        return ir.note_dtype(value, None)
    # A body may leave its outputs without a type, and is another one where it has types.
    typed = value.type is not None or value.is_graph_input() or value.is_graph_output()
    if not typed:
        value.type = type_
    return ir.note_dtype(value, flow.dtype(value)) or not typed
