"""Names by which a node of a model is found again in what onnxruntime makes of it.

onnxruntime derives the names of fused, expanded, inlined and copied nodes from the names of the
nodes and values they stand for. Names of the model itself can be empty, shared, or part of each
other; in a copy of the model with numbered names, each derived name tells the numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mpgraph import ir

__all__ = ["Marked", "mark"]

_NODE = re.compile(r"mpgN(\d+)_")
_VALUE = re.compile(r"mpgV(\d+)_\d+")


@dataclass(frozen=True)
class Marked:
    """A copy of a model with numbered names.

    Attributes:
        model: The copy; its inputs, outputs and constants have the names they had.
        scopes: Its graphs, in the order of ``ir.graphs``.
        nodes: Its nodes, in the order of ``ir.nodes``; the place in it is the number of a node.
        keys: For each node its graph and position, such as ``main#12``.
        names: For each node the name that it has in the model.
        outputs: The outputs of the model that a node computes, with its number.
    """

    model: ir.Model
    scopes: tuple[ir.GraphScope, ...]
    nodes: tuple[ir.Node, ...]
    keys: tuple[str, ...]
    names: tuple[str, ...]
    outputs: dict[str, int]

    def named(self, text: str) -> list[int]:
        """The numbers of the nodes whose names are in a derived name."""
        return [int(number) for number in _NODE.findall(text)]

    def computed(self, value: str) -> list[int]:
        """The numbers of the nodes that compute the values whose names are in a derived name."""
        found = [int(number) for number in _VALUE.findall(value)]
        return [self.outputs[value]] if value in self.outputs else found

    def readable(self, text: str) -> str:
        """A derived name with the names that the nodes have in the model."""
        plain = _NODE.sub(lambda found: self.label(int(found.group(1))), text)
        return _VALUE.sub(lambda found: self.label(int(found.group(1))), plain)

    def label(self, number: int) -> str:
        """The name of a node, else its key."""
        return self.names[number] or self.keys[number]


def mark(model: ir.Model) -> Marked:
    """Copy a model, which is not changed, and number the names of its nodes and their results."""
    copy = ir.clone(model)
    scopes = tuple(ir.graphs(copy))
    kept = {value.name: value for value in copy.graph.outputs}
    nodes: list[ir.Node] = []
    keys: list[str] = []
    names: list[str] = []
    outputs: dict[str, int] = {}
    for scope in scopes:
        for position, node in enumerate(scope.graph):
            number = len(nodes)
            nodes.append(node)
            keys.append(f"{scope.path}#{position}")
            names.append(node.name or "")
            for value in node.outputs:
                if value.name and kept.get(value.name) is value:
                    outputs[value.name] = number
                elif value.name:
                    value.name = f"mpgV{number}_{value.index()}"
            node.name = f"mpgN{number}_"
    return Marked(copy, scopes, tuple(nodes), tuple(keys), tuple(names), outputs)
