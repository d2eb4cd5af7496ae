"""Refuses models that onnx-ir would load with a part missing."""

from __future__ import annotations

from onnx import GraphProto, ModelProto

from mpgraph.errors import InvalidModelError
from mpgraph.ir.walk import Survey

__all__ = ["refuse_unsupported"]


def refuse_unsupported(proto: ModelProto, found: Survey, where: str) -> None:
    """Refuses training information and sparse tensors, at any depth.

    onnx-ir drops `training_info` and `sparse_initializer` without a word; a saved model would
    silently be another one.

    Raises:
        InvalidModelError: The model holds one of them.
    """
    if proto.training_info:
        raise InvalidModelError(
            where,
            "holds training information, which would be lost",
            "export the model for inference, or clear training_info",
        )
    for graph, path in found.graphs:
        if isinstance(graph, GraphProto) and graph.sparse_initializer:
            raise InvalidModelError(
                where,
                f"holds sparse initializers in {path}, which are not supported",
                "store the weights as dense initializers",
            )
    for node, path in found.sparse_nodes:
        raise InvalidModelError(
            where,
            f"node {node.name or node.op_type} in {path} has a sparse tensor attribute, which is"
            " not supported",
            "store the constant as a dense tensor",
        )
