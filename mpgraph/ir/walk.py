"""One walk over an ONNX proto that finds its graphs and tensors, also nested ones."""

from __future__ import annotations

from dataclasses import dataclass, field

from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

__all__ = ["Survey", "survey"]

_GRAPH, _GRAPHS = AttributeProto.GRAPH, AttributeProto.GRAPHS
_TENSOR, _TENSORS = AttributeProto.TENSOR, AttributeProto.TENSORS
_SPARSE = (AttributeProto.SPARSE_TENSOR, AttributeProto.SPARSE_TENSORS)


@dataclass
class Survey:
    """What a model holds, at any depth.

    Attributes:
        graphs: (graph or function, path); outer ones before inner ones.
        attribute_tensors: Tensors in attributes, those in default values of functions included.
        sparse_nodes: (node, path of its graph) of nodes with a sparse tensor attribute.
    """

    graphs: list[tuple[GraphProto | FunctionProto, str]] = field(default_factory=list)
    attribute_tensors: list[TensorProto] = field(default_factory=list)
    sparse_nodes: list[tuple[NodeProto, str]] = field(default_factory=list)

    @property
    def holds_subgraphs(self) -> bool:
        """Whether any node holds a graph."""
        return len(self.graphs) > 1 + sum(isinstance(one, FunctionProto) for one, _ in self.graphs)

    def tensors(self) -> list[TensorProto]:
        """All tensors: the initializers of all graphs, then those in attributes."""
        found: list[TensorProto] = []
        for graph, _ in self.graphs:
            if isinstance(graph, GraphProto):
                found.extend(graph.initializer)
        return found + self.attribute_tensors


def survey(model: ModelProto) -> Survey:
    """Walks over a model once; what is found are live parts of it."""
    found = Survey()
    _visit(model.graph, "main", found)
    for function in model.functions:
        _visit(function, f"function:{function.domain}::{function.name}", found)
        for attr in function.attribute_proto:
            _take_tensors(attr, found)
    return found


def _visit(graph: GraphProto | FunctionProto, path: str, found: Survey) -> None:
    found.graphs.append((graph, path))
    for index, node in enumerate(graph.node):
        for attr in node.attribute:
            kind = attr.type
            if kind in (_GRAPH, _GRAPHS):
                label = node.name.strip("/") or f"{node.op_type}_{index}"
                if kind == _GRAPH:
                    _visit(attr.g, f"{path}/{label}.{attr.name}", found)
                for position, inner in enumerate(attr.graphs):
                    _visit(inner, f"{path}/{label}.{attr.name}[{position}]", found)
            elif kind in (_TENSOR, _TENSORS):
                _take_tensors(attr, found)
            elif kind in _SPARSE:
                found.sparse_nodes.append((node, path))


def _take_tensors(attr: AttributeProto, found: Survey) -> None:
    if attr.type == _TENSOR:
        found.attribute_tensors.append(attr.t)
    elif attr.type == _TENSORS:
        found.attribute_tensors.extend(attr.tensors)
