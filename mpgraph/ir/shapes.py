"""Shapes of intermediate values, by onnx's own inference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import onnx.shape_inference
import onnx_ir
from onnx import GraphProto, TypeProto

from mpgraph.ir.memory import paused_gc
from mpgraph.ir.proto import to_proto_without_weights
from mpgraph.ir.schemas import operator_schema
from mpgraph.ir.scopes import graphs, opset_of
from mpgraph.ir.walk import survey

__all__ = ["infer_shapes"]

_GENERATED = "unk__"  # how onnx names the dimensions that it makes up


def infer_shapes(model: onnx_ir.Model) -> bool:
    """Fills in `value.shape` where onnx can infer it, in the main graph and all subgraphs.

    Returns whether any shape changed.

    Types are neither read nor changed: declared types of intermediate values are left out of
    what onnx sees, for a stale one would stop its inference without a word. They are kept for
    operators that onnx does not know. Graph inputs and outputs keep their declared shapes; a
    known dimension is never replaced by an unknown one. Whatever goes wrong inside of onnx, the
    shapes stay as they are.
    """
    with paused_gc():
        try:
            with _forgotten_types(model):
                proto = to_proto_without_weights(model)
            inferred = onnx.shape_inference.infer_shapes(proto, data_prop=True)
        except Exception:
            # onnx raises a dozen kinds here, from C++ too; shapes are a help, not a need.
            return False
        changed = False
        for scope, (graph, _) in zip(graphs(model), survey(inferred).graphs, strict=True):
            if isinstance(graph, GraphProto):
                changed |= _take_shapes(scope.graph, graph)
    return changed


@contextmanager
def _forgotten_types(model: onnx_ir.Model) -> Iterator[None]:
    """Hides types and shapes of what known operators produce, but for outputs of the model."""
    hidden: list[tuple[onnx_ir.Value, onnx_ir.TypeProtocol | None, onnx_ir.Shape | None]] = []
    try:
        for scope in graphs(model):
            for node in scope.graph:
                version = opset_of(node.domain, scope.opset_imports)
                if version is None or operator_schema(node.domain, node.op_type, version) is None:
                    continue
                for value in node.outputs:
                    if scope.owner is None and value.is_graph_output():
                        continue
                    hidden.append((value, value.type, value.shape))
                    value.type = value.shape = None
        yield
    finally:
        for value, type_, shape in hidden:
            value.type, value.shape = type_, shape


def _take_shapes(graph: onnx_ir.Graph, inferred: GraphProto) -> bool:
    infos = {info.name: info.type for info in (*inferred.value_info, *inferred.output)}
    changed = False
    if not infos:
        return changed
    for node in graph:
        for value in node.outputs:
            if value.name in infos and not value.is_graph_output():
                dims = _dims(infos[value.name])
                if dims is None:
                    continue
                merged = _merged(value.shape, dims)
                if merged != value.shape:
                    value.shape = merged
                    changed = True
    return changed


def _dims(type_: TypeProto) -> list[int | str | None] | None:
    """The inferred dims of a tensor; None when it is no tensor or of unknown rank."""
    if not type_.HasField("tensor_type") or not type_.tensor_type.HasField("shape"):
        return None
    dims: list[int | str | None] = []
    for dim in type_.tensor_type.shape.dim:
        if dim.HasField("dim_value"):
            dims.append(dim.dim_value)
        elif dim.dim_param and not dim.dim_param.startswith(_GENERATED):
            dims.append(dim.dim_param)
        else:
            dims.append(None)
    return dims


def _merged(known: onnx_ir.Shape | None, dims: Iterable[int | str | None]) -> onnx_ir.Shape:
    found = list(dims)
    if known is None or len(known) != len(found):
        return onnx_ir.Shape(found)
    return onnx_ir.Shape(
        [
            old if new is None or (isinstance(old, int) and isinstance(new, str)) else new
            for old, new in zip(known, found, strict=True)
        ]
    )
