"""By which graph and id Model Explorer knows what is in a model.

They are those of its ONNX adapter, model-explorer-onnx 0.4 (https://github.com/justinchuby/
model-explorer-onnx). It gives nodes names where they have none or share one, draws the branches of
an If in the graph that holds the If, each other body of a node of the main graph as a graph of its
own, and functions likewise. Bodies of Loop and Scan that lie deeper are not drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from mpgraph import ir

__all__ = ["Place", "Places", "find_places"]

_MAIN = "<main>"
_UNNAMED = "node"


@dataclass(frozen=True, slots=True)
class Place:
    """The id of a graph of Model Explorer, and the id of something in it."""

    graph: str
    item: str


@dataclass(frozen=True)
class Places:
    """What of a model is drawn, and where.

    Attributes:
        nodes: The place of each node that is drawn.
        values: The place of each graph input, output and initializer that is drawn.
    """

    nodes: Mapping[ir.Node, Place]
    values: Mapping[ir.Value, Place]


def find_places(model: ir.Model) -> Places:
    """Find the place of every node, graph input, output and initializer; the model is unchanged."""
    search = _Search(_unique_names(model))
    search.graph(model.graph, model.graph.name or _MAIN)
    for function in model.functions.values():
        search.function(function)
    return Places(search.nodes, search.values)


@dataclass
class _Search:
    names: Mapping[ir.Node, str]
    nodes: dict[ir.Node, Place] = field(default_factory=dict)
    values: dict[ir.Value, Place] = field(default_factory=dict)

    def graph(self, graph: ir.Graph, drawn: str) -> None:
        """The main graph, with the bodies in it that are drawn by themselves."""
        holders = self._draw(graph, drawn, "")
        self._interface(graph, drawn)
        for node, item in holders:
            for attribute, body in _bodies(node):
                inner = f"{item}/{attribute}"
                self._draw(body, inner, "")
                self._interface(body, inner)

    def function(self, function: ir.Function) -> None:
        """The body of a function, of which nothing that lies deeper is drawn."""
        domain, name, overload = function.identifier()
        drawn = f"[function]{domain}::{name}" + (f"::{overload}" if overload else "")
        for node in function:
            self.nodes[node] = Place(drawn, self.names[node])
        self._interface(function.graph, drawn, initializers=False)

    def _draw(self, graph: ir.Graph, drawn: str, prefix: str) -> list[tuple[ir.Node, str]]:
        """Place the nodes of a graph and of the branches in it; return those that hold bodies."""
        holders = []
        for node in graph:
            item = f"{prefix}{self.names[node]}"
            self.nodes[node] = Place(drawn, item)
            if _is_if(node):
                for attribute, branch in _bodies(node):
                    holders += self._draw(branch, drawn, f"{item}/{attribute}/")
            elif node.attributes and ir.holds_graphs(node):
                holders.append((node, item))
        return holders

    def _interface(self, graph: ir.Graph, drawn: str, *, initializers: bool = True) -> None:
        constants = graph.initializers.values() if initializers else ()
        for value in (*graph.inputs, *graph.outputs, *constants):
            if value.name:
                self.values.setdefault(value, Place(drawn, f"[value] {value.name}"))


def _is_if(node: ir.Node) -> bool:
    return (node.domain, node.op_type) == ("", "If")


def _bodies(node: ir.Node) -> list[tuple[str, ir.Graph]]:
    """The bodies that stand in an attribute each; those in lists are not drawn."""
    return [(name, body) for name, body in ir.subgraphs_of(node) if name in node.attributes]


def _unique_names(model: ir.Model) -> dict[ir.Node, str]:
    """A name for each node, unique in its graph, as onnx-ir's NameFixPass gives them."""
    names: dict[ir.Node, str] = {}
    for graph in (model.graph, *(function.graph for function in model.functions.values())):
        _name_nodes(graph, names, Counter())
    return names


def _name_nodes(graph: ir.Graph, names: dict[ir.Node, str], counts: Counter[str]) -> None:
    """Name the nodes of a graph and of those in it, which share the counts but not the names."""
    used: set[str] = set()
    for node in graph:
        wanted = name = node.name or _UNNAMED
        while name in used:
            counts[wanted] += 1
            name = f"{wanted}_{counts[wanted]}"
        used.add(name)
        names[node] = name
        if node.attributes and ir.holds_graphs(node):
            for _, body in ir.subgraphs_of(node):
                _name_nodes(body, names, counts)
