"""Constants that a body shares with the graph around it, given to the body as its own."""

from __future__ import annotations

import os
from pathlib import Path

import onnx_ir
from onnx import GraphProto, ModelProto

from mpgraph.errors import MpgraphError
from mpgraph.ir.clone import clone
from mpgraph.ir.edits import constant_tensor
from mpgraph.ir.load import load
from mpgraph.ir.names import Namer
from mpgraph.ir.outline import parse_outline, read_outline
from mpgraph.ir.scopes import GraphScope, graphs
from mpgraph.ir.walk import survey

__all__ = ["with_body_constants"]

# Indices and axes; a weight is not doubled.
_LARGEST_BYTES = 2**16


def with_body_constants(
    source: onnx_ir.Model | str | os.PathLike[str] | bytes,
) -> onnx_ir.Model | None:
    """A copy of a model in which each body holds the constants that other graphs read too.

    Only constants of at most 64 KiB. A model without bodies is not loaded for it.

    Args:
        source: A model, the path of a file, or the bytes of one.

    Returns:
        The copy; None where no body shares a constant, or the source cannot be loaded.
    """
    try:
        model = _loaded(source)
    except MpgraphError:
        return None
    if model is None or not _shared(model):
        return None
    copy = clone(model) if model is source else model
    namer = Namer(copy)
    for scope, value in _shared(copy):
        own = onnx_ir.Value(
            name=namer.value_name(f"{value.name}.own"),
            type=value.type,
            shape=value.shape,
            const_value=constant_tensor(value),
        )
        scope.graph.register_initializer(own)
        for node, index in tuple(value.uses()):
            if node.graph is scope.graph:
                node.replace_input_with(index, own)
    return copy


def _loaded(source: onnx_ir.Model | str | os.PathLike[str] | bytes) -> onnx_ir.Model | None:
    """The model; None where it has no bodies."""
    if isinstance(source, onnx_ir.Model):
        return source
    if isinstance(source, bytes):
        if not _has_bodies(parse_outline(source)):
            return None
        return load(ModelProto.FromString(source))
    return load(source) if _has_bodies(read_outline(Path(source))) else None


def _has_bodies(model: ModelProto) -> bool:
    return sum(isinstance(graph, GraphProto) for graph, _ in survey(model).graphs) > 1


def _shared(model: onnx_ir.Model) -> list[tuple[GraphScope, onnx_ir.Value]]:
    """Each body with the outer constants that it reads and another graph reads too, in order."""
    found: list[tuple[GraphScope, onnx_ir.Value]] = []
    for scope in graphs(model):
        if scope.owner is None:
            continue
        read = dict.fromkeys(value for node in scope.graph for value in node.inputs if value)
        found.extend((scope, value) for value in read if _is_shared(value, scope.graph))
    return found


def _is_shared(value: onnx_ir.Value, body: onnx_ir.Graph) -> bool:
    if value.graph is body or value.is_graph_input() or value.is_graph_output():
        return False
    tensor = constant_tensor(value)
    if tensor is None or tensor.nbytes > _LARGEST_BYTES:
        return False
    return any(user.graph is not body for user, _ in value.uses())
