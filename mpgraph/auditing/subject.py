"""The model under audit, with what every collector and rule needs to know about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types_and_shapes

__all__ = ["Subject", "inspect_model"]


@dataclass(frozen=True)
class Subject:
    """A model with its types and shapes, and names for its nodes.

    Attributes:
        model: The model; nobody changes it.
        flow: The types of its values, and the shapes that can be inferred.
        scopes: Every graph of it, subgraphs and functions included.
        refused: Locations of external data that must not be read, each with the reason.
    """

    model: ir.Model
    flow: TypeFlow
    scopes: tuple[ir.GraphScope, ...]
    refused: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def keys(self) -> Mapping[ir.Node, str]:
        """For each node its graph and position, such as ``main#12``."""
        return {
            node: f"{scope.path}#{index}"
            for scope in self.scopes
            for index, node in enumerate(scope.graph)
        }

    @cached_property
    def module_paths(self) -> Mapping[ir.Node, str]:
        """For each node its module path; nodes in a body that say nothing have that of its owner.

        What is below no module in a function counts as of the function.
        """
        paths: dict[ir.Node, str] = {}
        for scope in self.scopes:
            above = "" if scope.owner is None else paths[scope.owner]
            if scope.owner is None and scope.function is not None:
                above = scope.function.name
            for node in scope.graph:
                paths[node] = ir.module_scope(node) or above
        return paths

    @cached_property
    def homes(self) -> Mapping[ir.Value, ir.GraphScope]:
        """For each value, the graph that defines it."""
        return {value: scope for scope, value in self.values()}

    def nodes(self) -> Iterator[tuple[ir.GraphScope, ir.Node]]:
        """Every node with the graph that it is in, in graph order."""
        for scope in self.scopes:
            for node in scope.graph:
                yield scope, node

    def values(self) -> Iterator[tuple[ir.GraphScope, ir.Value]]:
        """Every named value, each once: inputs, initializers, results of nodes."""
        for scope in self.scopes:
            inputs = scope.graph.inputs
            yield from ((scope, value) for value in inputs)
            for value in scope.graph.initializers.values():
                if not value.is_graph_input():
                    yield scope, value
            for node in scope.graph:
                for value in node.outputs:
                    if value.name:
                        yield scope, value

    def describe(self, node: ir.Node) -> str:
        """Names a node as ``ir.describe`` does, without a search for its position."""
        if node.name:
            return f"{node.name} ({node.op_type})"
        path, _, index = self.keys[node].rpartition("#")
        return f"{node.op_type} #{index} in {path}"

    def is_readable(self, tensor: ir.TensorProtocol) -> bool:
        """Whether the content of a tensor may be read: its data is not refused."""
        return not (isinstance(tensor, ir.ExternalTensor) and str(tensor.location) in self.refused)


def inspect_model(model: ir.Model, refused: Mapping[str, str]) -> Subject:
    """Infers types and shapes of a model, which is not changed."""
    flow = infer_types_and_shapes(model)
    return Subject(model, flow, tuple(ir.graphs(model)), refused)
