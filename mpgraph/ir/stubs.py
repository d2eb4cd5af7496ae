"""A model as a proto whose weights are stubs, for a tool of onnx, and the way back."""

from __future__ import annotations

import onnx_ir
from onnx import ModelProto
from onnx_ir import DataType, serde

from mpgraph.ir.checker import STUB_LOCATION
from mpgraph.ir.clone import clone
from mpgraph.ir.proto import in_memory, serialized, stub_of
from mpgraph.ir.repair import repair, set_types_aside
from mpgraph.ir.shadowing import rename_shadowing_values
from mpgraph.ir.tensors import replace_tensors
from mpgraph.ir.verifier import verify_structure
from mpgraph.ir.walk import survey

__all__ = ["Weights", "restored", "with_stubs"]

_LIMIT_BYTES = 1024

Weights = dict[str, onnx_ir.TensorProtocol]
"""The tensors that were replaced, by the location that their stubs name."""


def with_stubs(model: onnx_ir.Model) -> tuple[ModelProto, Weights]:
    """Returns the model as a proto, with stubs in the place of tensors above 1 KiB."""
    weights: Weights = {}

    def stub(tensor: onnx_ir.TensorProtocol) -> onnx_ir.TensorProtocol:
        if tensor.dtype == DataType.STRING or tensor.nbytes <= _LIMIT_BYTES:
            return in_memory(tensor)
        location = f"{STUB_LOCATION}#{len(weights)}"
        weights[location] = tensor
        return stub_of(tensor, location)

    return serialized(model, stub), weights


def restored(proto: ModelProto, source: onnx_ir.Model, weights: Weights) -> onnx_ir.Model:
    """Returns the model of a proto that a tool made, with its weights put back.

    Args:
        proto: Made from that of `with_stubs`.
        source: The model before; types of its inputs and outputs hold on.
        weights: As `with_stubs` returned them.
    """
    found = survey(proto)
    repair(proto, found, "the converted model")
    set_types_aside(found)
    model = serde.deserialize_model(proto)
    if found.holds_subgraphs:
        rename_shadowing_values(model)

    def original(tensor: onnx_ir.TensorProtocol) -> onnx_ir.TensorProtocol:
        if isinstance(tensor, onnx_ir.ExternalTensor):
            return weights[str(tensor.location)]
        return tensor

    replace_tensors(model, original)
    for old, new in zip(
        (*source.graph.inputs, *source.graph.outputs),
        (*model.graph.inputs, *model.graph.outputs),
        strict=True,
    ):
        new.type, new.shape = old.type, None if old.shape is None else old.shape.copy()
    model.meta.update(source.meta)
    model = clone(model)
    verify_structure(model)
    return model
