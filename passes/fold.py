"""Remove what a precision change has left over: casts that do nothing, and dead constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types
from mpgraph.passmgr import Facts, Pass

__all__ = ["Fold"]

_EXACT = {
    (ir.DataType.FLOAT16, ir.DataType.FLOAT),
    (ir.DataType.BFLOAT16, ir.DataType.FLOAT),
    (ir.DataType.FLOAT16, ir.DataType.DOUBLE),
    (ir.DataType.BFLOAT16, ir.DataType.DOUBLE),
    (ir.DataType.FLOAT, ir.DataType.DOUBLE),
}
"""Casts that keep every value, so that casting back gives the operand."""


@dataclass(frozen=True)
class Fold(Pass):
    """Remove casts to the dtype a value has already, exact round trips, repeated casts, and what is
    dead then: casts and constants.

    A cast is only removed where no rounding is lost with it: ``float16 -> float32 -> float16`` is,
    ``float32 -> float16 -> float32`` is not.
    """

    name: ClassVar[str] = "fold"
    keeps: ClassVar[tuple[type, ...]] = (TypeFlow,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Fold every graph of the model, inner ones included."""
        changed = False
        scopes = tuple(ir.graphs(model))
        found = [[node for node in scope.graph if _may_go(node)] for scope in scopes]
        casts = [list(filter(_is_cast, nodes)) for nodes in found]
        flow = _types(model, facts) if any(casts) else TypeFlow()
        for scope, nodes in zip(scopes, casts, strict=True):
            if scope.function is None or not flow.polymorphic:
                changed |= any([_fold_cast(node, flow) for node in nodes])
        for nodes in casts:
            changed |= _merge_casts(nodes)
        for node in (node for nodes in reversed(found) for node in reversed(nodes)):
            changed |= _remove_if_dead(node)
        for scope in scopes:
            changed |= _remove_dead_initializers(scope.graph)
        return changed


def _types(model: ir.Model, facts: Facts) -> TypeFlow:
    """The types of all values, which folding leaves as they are."""
    flow = infer_types(model)
    facts.put(flow)
    return flow


def _may_go(node: ir.Node) -> bool:
    return node.op_type in ("Cast", "Constant") and node.domain == ""


def _is_cast(node: ir.Node | None) -> bool:
    return node is not None and (node.domain, node.op_type) == ("", "Cast")


def _target(node: ir.Node) -> ir.DataType | None:
    attribute = node.attributes.get("to")
    return None if attribute is None or attribute.is_ref() else ir.DataType(attribute.as_int())


def _fold_cast(node: ir.Node, flow: TypeFlow) -> bool:
    """Hand the consumers of a needless cast what it was made from."""
    if node.inputs[0] is None:
        return False
    source = _equivalent(node.inputs[0], _target(node), flow)
    if source is None or source is node.outputs[0]:
        return False
    result = node.outputs[0]
    if result.is_graph_output() and not _rename(source, result):
        return False
    result.replace_all_uses_with(source, replace_graph_outputs=True)
    return True


def _equivalent(value: ir.Value, dtype: ir.DataType | None, flow: TypeFlow) -> ir.Value | None:
    """The value that a cast of ``value`` to ``dtype`` repeats; None if there is none."""
    if dtype is None:
        return None
    if flow.dtype(value) == dtype:
        return value
    node = value.producer()
    if node is None or not _is_cast(node) or node.inputs[0] is None:
        return None
    before = node.inputs[0]
    if flow.dtype(before) == dtype and (dtype, _target(node)) in _EXACT:
        return before
    return None


def _rename(source: ir.Value, result: ir.Value) -> bool:
    """Give ``source`` the public name of ``result``; refused where it has a public name itself."""
    node = source.producer()
    same_graph = node is not None and node.graph is result.graph
    if not same_graph or source.is_graph_output() or source.is_initializer():
        return False
    public = result.name
    result.name = f"{public}_folded"
    source.name = public
    source.shape = result.shape or source.shape
    source.type = result.type or source.type
    return True


def _merge_casts(casts: Sequence[ir.Node]) -> bool:
    """Let the consumers of a Cast that repeats an earlier one of the same graph take that one's."""
    changed = False
    known: dict[tuple[ir.Value | None, str], ir.Value] = {}
    for node in casts:
        if any(one.is_ref() for one in node.attributes.values()):
            continue
        result = node.outputs[0]
        attributes = sorted((one.name, one.value) for one in node.attributes.values())
        first = known.setdefault((node.inputs[0], repr(attributes)), result)
        if first is not result and result.uses():
            ir.redirect(result.uses(), first)
            changed = True
    return changed


def _remove_if_dead(node: ir.Node) -> bool:
    if node.graph is None or not _is_dead(node.outputs[0]):
        return False
    node.graph.remove(node, safe=True)
    return True


def _remove_dead_initializers(graph: ir.Graph) -> bool:
    dead = [
        value
        for value in graph.initializers.values()
        if _is_dead(value) and not value.is_graph_input()
    ]
    for value in dead:
        del graph.initializers[value.name or ""]
    return bool(dead)


def _is_dead(value: ir.Value) -> bool:
    return not value.uses() and not value.is_graph_output()
