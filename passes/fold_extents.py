"""Let constants stand for extents that are known while others of the same value are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpgraph import ir
from mpgraph.analysis import infer_types_and_shapes
from mpgraph.passmgr import Facts, Pass
from mpgraph.quant.rewriting import Writer

__all__ = ["FoldExtents"]

Extents = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


@dataclass(frozen=True)
class FoldExtents(Pass):
    """Replace a Gather of extents that are known, where a Shape gives them, by a constant.

    Runtimes fold a Shape whose extents are all known. With an unknown batch they compute the number
    of channels at every run, and the offsets that follow from it.
    """

    name: ClassVar[str] = "fold-extents"

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Fold every graph but the bodies of functions, whose extents differ from call to call."""
        scopes = [scope for scope in ir.graphs(model) if scope.function is None]
        gathers = [node for scope in scopes for node in scope.graph if _gathers_extents(node)]
        if not gathers:
            return False
        flow, writer = infer_types_and_shapes(model), Writer(model, self.name)
        changed = False
        for node in gathers:
            found = _extents(node, flow.shape(_measured(node)) or ())
            if found is not None:
                _replace(node, found, writer)
                changed = True
        return changed


def _gathers_extents(node: ir.Node) -> bool:
    if (node.domain, node.op_type) != ("", "Gather") or node.inputs[0] is None:
        return False
    shape = node.inputs[0].producer()
    if shape is None or (shape.domain, shape.op_type) != ("", "Shape") or shape.attributes:
        return False
    result = node.outputs[0]
    return shape.inputs[0] is not None and bool(result.uses()) and not result.is_graph_output()


def _measured(node: ir.Node) -> ir.Value:
    """The value whose extents a Gather takes."""
    shape = None if node.inputs[0] is None else node.inputs[0].producer()
    value = None if shape is None else shape.inputs[0]
    if value is None:
        raise ValueError(f"{ir.describe(node)}: it gathers no extents")
    return value


def _extents(node: ir.Node, dims: Sequence[object]) -> Extents | None:
    """The extents that a Gather picks; None where one of them is not known."""
    index = None if node.inputs[1] is None else ir.constant_tensor(node.inputs[1])
    if index is None or not dims:
        return None
    places = index.numpy()
    if places.size == 0 or places.min() < -len(dims) or places.max() >= len(dims):
        return None
    picked = [dims[int(place)] for place in places.reshape(-1)]
    known = [one for one in picked if isinstance(one, int) and one >= 0]
    if len(known) < len(picked):
        return None
    return np.array(known, np.int64).reshape(places.shape)


def _replace(node: ir.Node, found: Extents, writer: Writer) -> None:
    """Let a constant stand for a Gather, and remove a Shape that nothing reads then."""
    shape, result, graph = node.inputs[0], node.outputs[0], node.graph
    if graph is None or shape is None:
        raise ValueError(f"{ir.describe(node)}: it belongs to no graph")
    constant = writer.constant(graph, f"{result.name}_known", ir.tensor(found))
    result.replace_all_uses_with(constant)
    graph.remove(node, safe=True)
    measuring = shape.producer()
    if measuring is None or measuring.graph is None or shape.uses() or shape.is_graph_output():
        return
    measuring.graph.remove(measuring, safe=True)
