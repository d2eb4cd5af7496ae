"""Nodes that share a name with nodes of other graphs, and with values."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.small import if_captures


def build(within_graph: bool = False) -> onnx.ModelProto:
    """The nested Ifs of `if_captures` with the same node names in every graph.

    Args:
        within_graph: Also give the nodes of one graph the same name, which ONNX's checker accepts
            and onnxruntime refuses.
    """
    model = if_captures.build()
    _rename(model.graph, within_graph)
    if not within_graph:
        model.graph.node[0].name = model.graph.node[0].output[0]
    return model


def feeds(**_: object) -> list[dict[str, NDArray[np.generic]]]:
    """The inputs of `if_captures`."""
    return if_captures.feeds()


def _rename(graph: onnx.GraphProto, within_graph: bool) -> None:
    for index, node in enumerate(graph.node):
        node.name = "node" if within_graph else f"node_{index}"
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                _rename(attribute.g, within_graph)
