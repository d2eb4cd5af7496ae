"""New names that are unique over the whole model."""

from __future__ import annotations

import onnx_ir

from mpgraph.ir.scopes import graphs

__all__ = ["Namer"]


class Namer:
    """Hands out names that no graph, subgraph or function of a model uses yet.

    onnx-ir numbers values per graph, so an outer and an inner value can both become `val_0`,
    which ONNX forbids. Names given here depend only on the model and the order of calls. Values
    and nodes are separate namespaces, as in ONNX.
    """

    def __init__(self, model: onnx_ir.Model) -> None:
        self._values: set[str] = set()
        self._nodes: set[str] = set()
        self._next: dict[tuple[bool, str], int] = {}
        for scope in graphs(model):
            graph = scope.graph
            self._values.update(value.name for value in graph.inputs if value.name)
            self._values.update(value.name for value in graph.outputs if value.name)
            self._values.update(graph.initializers)
            for node in graph:
                if node.name:
                    self._nodes.add(node.name)
                self._values.update([value.name for value in node.outputs if value.name])

    def value_name(self, base: str) -> str:
        """Returns `base`, or `base_1`, `base_2`, ... whichever is the first free value name."""
        return self._free(base or "value", self._values, False)

    def node_name(self, base: str) -> str:
        """Returns `base`, or `base_1`, `base_2`, ... whichever is the first free node name."""
        return self._free(base or "node", self._nodes, True)

    def _free(self, base: str, taken: set[str], is_node: bool) -> str:
        name = base
        if name in taken:
            count = self._next.get((is_node, base), 1)
            while (name := f"{base}_{count}") in taken:
                count += 1
            self._next[is_node, base] = count + 1
        taken.add(name)
        return name
