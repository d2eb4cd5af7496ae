"""Names by which a node of a model is found again in what onnxruntime makes of it.

onnxruntime derives the names of fused, expanded, inlined and copied nodes from the names of the
nodes and values they stand for. Names of the model itself can be empty, shared, or part of each
other; with numbered names, each derived name tells the numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from mpgraph import ir

__all__ = ["Marked", "marked"]

_NODE = re.compile(r"mpgN(\d+)_")
_VALUE = re.compile(r"mpgV(\d+)_\d+")


@dataclass(frozen=True)
class Marked:
    """A model while it has numbered names, and what they stand for.

    Attributes:
        model: The model; its inputs, outputs and constants keep the names they have.
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


@contextmanager
def marked(model: ir.Model) -> Iterator[Marked]:
    """Inside the block the nodes of a model and their results have numbered names.

    Args:
        model: As it was after the block.
    """
    scopes = tuple(ir.graphs(model))
    nodes = tuple(node for scope in scopes for node in scope.graph)
    values = [value for node in nodes for value in node.outputs if value.name]
    names = [node.name for node in nodes]
    value_names = [value.name for value in values]
    try:
        outputs = _number(model, nodes)
        yield Marked(
            model=model,
            scopes=scopes,
            nodes=nodes,
            keys=tuple(f"{one.path}#{place}" for one in scopes for place in range(len(one.graph))),
            names=tuple(name or "" for name in names),
            outputs=outputs,
        )
    finally:
        for node, name in zip(nodes, names, strict=True):
            node.name = name
        for value, name in zip(values, value_names, strict=True):
            value.name = name


def _number(model: ir.Model, nodes: Sequence[ir.Node]) -> dict[str, int]:
    """Number the names; the outputs of the model, which keep theirs, with their nodes."""
    kept = {value.name: value for value in model.graph.outputs}
    outputs: dict[str, int] = {}
    for number, node in enumerate(nodes):
        node.name = f"mpgN{number}_"
        for value in node.outputs:
            if value.name and kept.get(value.name) is value:
                outputs[value.name] = number
            elif value.name:
                value.name = f"mpgV{number}_{value.index()}"
    return outputs
