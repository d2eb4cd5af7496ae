"""Remove casts that do nothing: to the dtype that a value has, and there and back without loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types
from mpgraph.analysis.cast_pairs import casts_back, holds_all, is_cast
from mpgraph.passmgr import Facts, Pass

__all__ = ["RemoveCastPairs"]


@dataclass(frozen=True)
class RemoveCastPairs(Pass):
    """Let the readers of casts that do nothing take what was cast; results stay the same.

    A cast there and back goes where the dtype between holds every number of the first, integers and
    bool included. A cast that writes a graph output becomes an Identity, so that the output keeps
    its name.
    """

    name: ClassVar[str] = "remove-cast-pairs"

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Remove them in every graph of the model, inner ones included."""
        flow = infer_types(model)
        changed = False
        for scope in ir.graphs(model):
            function = scope.function
            if function is not None and function.identifier() in flow.polymorphic:
                continue
            for node in [one for one in scope.graph if is_cast(one)]:
                if node.graph is not None:
                    changed |= _remove(node, flow)
        return changed


def _remove(node: ir.Node, flow: TypeFlow) -> bool:
    """Bypass a cast that does nothing, or all casts that bring back what one has widened."""
    source = node.inputs[0]
    read, written = flow.dtype(source), flow.dtype(node.outputs[0])
    if source is None or read is None or written is None:
        return False
    if read == written:
        _bypass(node, source)
        return True
    if not holds_all(written, read):
        return False
    pairs = [one for one in casts_back(node, flow) if one.graph is not None]
    for second in pairs:
        _bypass(second, source)
    return bool(pairs)


def _bypass(node: ir.Node, source: ir.Value) -> None:
    result, before = node.outputs[0], node.inputs[0]
    if result.is_graph_output():
        node.op_type = "Identity"
        node.attributes.clear()
        node.resize_inputs(1)
        node.replace_input_with(0, source)
    ir.redirect(result.uses(), source)
    _remove_dead(node)
    producer = None if before is None else before.producer()
    while producer is not None and (is_cast(producer) or producer.op_type == "Identity"):
        before = producer.inputs[0]
        if not _remove_dead(producer):
            break
        producer = None if before is None else before.producer()


def _remove_dead(node: ir.Node) -> bool:
    if node.graph is None or node.outputs[0].uses() or node.outputs[0].is_graph_output():
        return False
    node.graph.remove(node, safe=True)
    return True
