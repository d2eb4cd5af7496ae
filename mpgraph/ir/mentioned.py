"""Which dtypes a model speaks of, without building its IR."""

from __future__ import annotations

import os
from pathlib import Path

import onnx_ir
from onnx import FunctionProto, ModelProto, TypeProto
from onnx_ir import DataType

from mpgraph.ir.outline import parse_outline, read_outline
from mpgraph.ir.scopes import nodes
from mpgraph.ir.tensors import all_tensors
from mpgraph.ir.walk import survey

__all__ = ["mentions_dtype"]


def mentions_dtype(model: onnx_ir.Model | str | os.PathLike[str] | bytes, dtype: DataType) -> bool:
    """Tells whether a tensor, a declared type or the target of a Cast has a dtype.

    Every value of that dtype comes from one of these. Weights are not read.

    Args:
        model: A model, the path of a file, or the bytes of one.
        dtype: The dtype to look for.

    Raises:
        ModelFileError: The file or the bytes hold no ONNX model.
    """
    if isinstance(model, onnx_ir.Model):
        return _in_model(model, dtype)
    proto = parse_outline(model) if isinstance(model, bytes) else read_outline(Path(model))
    return _in_proto(proto, dtype)


def _in_model(model: onnx_ir.Model, dtype: DataType) -> bool:
    if any(tensor.dtype == dtype for tensor in all_tensors(model)):
        return True
    if any(value.dtype == dtype for value in model.graph.inputs):
        return True
    return any(
        any(value.dtype == dtype for value in node.outputs) or _casts_to(node, dtype)
        for node in nodes(model)
    )


def _casts_to(node: onnx_ir.Node, dtype: DataType) -> bool:
    to = node.attributes.get("to")
    return to is not None and not to.is_ref() and to.value == int(dtype)


def _in_proto(model: ModelProto, dtype: int) -> bool:
    found = survey(model)
    if any(tensor.data_type == dtype for tensor in found.tensors()):
        return True
    for graph, _ in found.graphs:
        infos = list(graph.value_info)
        if not isinstance(graph, FunctionProto):
            infos += [*graph.input, *graph.output]
        if any(_has(info.type, dtype) for info in infos):
            return True
        for node in graph.node:
            if any(attr.name == "to" and attr.i == dtype for attr in node.attribute):
                return True
    return False


def _has(type_: TypeProto, dtype: int) -> bool:
    kind = type_.WhichOneof("value")
    if kind == "tensor_type":
        return type_.tensor_type.elem_type == dtype
    if kind in ("sequence_type", "optional_type"):
        return _has(getattr(type_, kind).elem_type, dtype)
    return False
