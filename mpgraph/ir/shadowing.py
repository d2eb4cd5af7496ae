"""Renames inner values that hide an outer one."""

from __future__ import annotations

import onnx_ir

from mpgraph.ir.names import Namer
from mpgraph.ir.scopes import holds_graphs, subgraphs_of

__all__ = ["rename_shadowing_values"]


def rename_shadowing_values(model: onnx_ir.Model) -> int:
    """Gives a new name to each value of a subgraph whose name an enclosing graph uses too.

    ONNX forbids such names, yet its checker lets many pass, and a value moved between the graphs
    would then be captured by the wrong name. Names of inner values are never visible outside, so
    nothing else changes. Values of sibling branches may share names.

    Returns:
        How many values were renamed.
    """
    renamer = _Renamer(model)
    for graph in (model.graph, *(function.graph for function in model.functions.values())):
        renamer.visit(graph, [])
    return renamer.count


class _Renamer:
    def __init__(self, model: onnx_ir.Model) -> None:
        self._model = model
        self._namer: Namer | None = None
        self.count = 0

    def visit(self, graph: onnx_ir.Graph, outer: list[set[str]]) -> None:
        holders = [node for node in graph if holds_graphs(node)]
        if not holders and not outer:
            return
        values = {id(value): value for value in (*graph.inputs, *graph.initializers.values())}
        for node in graph:
            values.update((id(value), value) for value in node.outputs if value.name)
        if outer:
            for value in values.values():
                if any(value.name in names for names in outer):
                    self._rename(value)
        names = {value.name for value in values.values() if value.name}
        for node in holders:
            for _, inner in subgraphs_of(node):
                self.visit(inner, [*outer, names])

    def _rename(self, value: onnx_ir.Value) -> None:
        if self._namer is None:
            self._namer = Namer(self._model)
        value.name = self._namer.value_name(value.name or "")
        self.count += 1
