"""The types and the shapes of all values of a model."""

from __future__ import annotations

from dataclasses import replace

from mpgraph import ir
from mpgraph.analysis.dtype_flow import TypeFlow, infer_types

__all__ = ["infer_types_and_shapes"]


def infer_types_and_shapes(model: ir.Model) -> TypeFlow:
    """The types of a model's values, with the shapes that ONNX's shape inference finds besides.

    Args:
        model: The model; it is not changed.
    """
    return replace(infer_types(model), shapes=ir.infer_shapes(model))
