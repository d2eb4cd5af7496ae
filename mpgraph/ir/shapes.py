"""Shapes of intermediate values, by onnx's own inference."""

from __future__ import annotations

from collections.abc import Mapping

import onnx.shape_inference
import onnx_ir
from onnx import GraphProto, TypeProto

from mpgraph.ir.memory import paused_gc
from mpgraph.ir.scopes import holds_graphs, subgraphs_of
from mpgraph.ir.skeleton import skeleton

__all__ = ["Dims", "contradict", "correct_shapes", "declared_dims", "infer_shapes"]

Dims = tuple[int | str | None, ...]
"""The extents of a tensor: a number, a symbol, or None where nothing is known."""

_GENERATED = "unk__"  # how onnx names the dimensions that it makes up


def infer_shapes(model: onnx_ir.Model) -> dict[onnx_ir.Value, Dims]:
    """Infers the shapes of what nodes produce, in the main graph and all subgraphs.

    Returns the shapes that onnx can infer, refined by those that the model declares: a known
    extent is never replaced by an unknown one. The model is not changed.

    Declared types of intermediate values are left out of what onnx sees, for a stale one would
    stop its inference without a word. They are kept for operators that onnx does not know.
    Outputs of the model keep their declared shapes. Whatever goes wrong inside of onnx, the result
    is then empty.
    """
    found: dict[onnx_ir.Value, Dims] = {}
    with paused_gc():
        try:
            inferred = onnx.shape_inference.infer_shapes(skeleton(model), data_prop=True)
        except Exception:
            # onnx raises a dozen kinds here, from C++ too; shapes are a help, not a need.
            return found
        _take_shapes(model.graph, inferred.graph, found)
    return found


def correct_shapes(shapes: Mapping[onnx_ir.Value, Dims]) -> bool:
    """Replaces declared shapes that contradict inferred ones; whether there were any.

    A contradiction is another rank or another number. A declared shape that is only less precise
    is left as it is.
    """
    changed = False
    for value, dims in shapes.items():
        known = declared_dims(value)
        if known is not None and contradict(known, dims):
            value.shape = onnx_ir.Shape(dims)
            changed = True
    return changed


def declared_dims(value: onnx_ir.Value) -> Dims | None:
    """The extents that a value declares; None where it declares no shape."""
    if value.shape is None:
        return None
    return tuple(dim if isinstance(dim, int) else dim.value for dim in value.shape)


def _take_shapes(
    graph: onnx_ir.Graph, inferred: GraphProto, found: dict[onnx_ir.Value, Dims]
) -> None:
    infos: dict[str | None, TypeProto] = {
        info.name: info.type for info in (*inferred.value_info, *inferred.output)
    }
    read: dict[bytes, Dims | None] = {}
    for index, node in enumerate(graph):
        for value in node.outputs:
            info = infos.get(value.name)
            if info is None or value.is_graph_output():
                continue
            key = info.SerializeToString(deterministic=True)
            if key not in read:
                read[key] = _dims(info)
            dims = read[key]
            if dims is not None:
                found[value] = _merged(declared_dims(value), dims)
        if holds_graphs(node):
            written = [
                inner
                for attribute in inferred.node[index].attribute
                for inner in ([attribute.g] if attribute.HasField("g") else attribute.graphs)
            ]
            for (_, subgraph), inner in zip(subgraphs_of(node), written, strict=True):
                _take_shapes(subgraph, inner, found)


def _dims(type_: TypeProto) -> Dims | None:
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
    return tuple(dims)


def _merged(known: Dims | None, found: Dims) -> Dims:
    if known is None or len(known) != len(found):
        return found
    return tuple(
        old if new is None or (isinstance(old, int) and isinstance(new, str)) else new
        for old, new in zip(known, found, strict=True)
    )


def contradict(known: Dims, found: Dims) -> bool:
    """Whether two shapes cannot both be true: another rank, or another number."""
    return len(known) != len(found) or any(
        isinstance(old, int) and isinstance(new, int) and old != new
        for old, new in zip(known, found, strict=True)
    )
