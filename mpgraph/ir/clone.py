"""A copy of a model that shares nothing but the weights."""

from __future__ import annotations

import onnx_ir

from mpgraph.ir.dtypes import element_dtype, with_element_dtype
from mpgraph.ir.memory import paused_gc
from mpgraph.ir.scopes import graphs

__all__ = ["clone"]


def clone(model: onnx_ir.Model) -> onnx_ir.Model:
    """Returns a copy of all graphs, functions, nodes and values; tensors are shared.

    onnx-ir's clone also shares the type objects, so that a dtype set on the copy changes the
    original; here every value of the copy gets types of its own. It costs about as much as a
    whole pipeline: clone once at most.
    """
    with paused_gc():
        copy = model.clone()
        copy.meta.update(model.meta)
        for scope in graphs(copy):
            graph = scope.graph
            for value in (*graph.inputs, *graph.initializers.values(), *graph.outputs):
                _own_type(value)
            for node in graph:
                for output in node.outputs:
                    _own_type(output)
    return copy


def _own_type(value: onnx_ir.Value) -> None:
    if value.type is not None:
        dtype = element_dtype(value.type) or onnx_ir.DataType.UNDEFINED
        value.type = with_element_dtype(value.type, dtype)
