"""Nodes of a model's file, subgraphs and functions included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import onnx

__all__ = ["count_nodes", "node_lists", "read_graph"]

_GRAPHS = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)


def read_graph(path: Path) -> onnx.ModelProto:
    """Read a model without its external weights."""
    return onnx.load(str(path), load_external_data=False)


def count_nodes(model: onnx.ModelProto, *op_types: str) -> int:
    """How many nodes have one of some operators."""
    return sum(node.op_type in op_types for nodes in node_lists(model) for node in nodes)


def node_lists(model: onnx.ModelProto) -> Iterator[list[onnx.NodeProto]]:
    """The nodes of the main graph, of each subgraph, and of each function."""
    yield from _lists(model.graph.node)
    for function in model.functions:
        yield from _lists(function.node)


def _lists(nodes: Iterable[onnx.NodeProto]) -> Iterator[list[onnx.NodeProto]]:
    listed = list(nodes)
    yield listed
    for node in listed:
        for attribute in node.attribute:
            if attribute.type in _GRAPHS:
                for graph in (attribute.g, *attribute.graphs):
                    yield from _lists(graph.node)
