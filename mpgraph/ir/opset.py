"""Opset conversion by onnx's own converter, for models of any size."""

from __future__ import annotations

from collections import Counter

import onnx.version_converter
import onnx_ir
from onnx import ModelProto
from onnx.helper import find_min_ir_version_for
from onnx_ir import DataType, serde
from onnx_ir.passes.common import InlinePass

from mpgraph.errors import ConversionError
from mpgraph.ir.checker import STUB_LOCATION, checker_finding, stubbed
from mpgraph.ir.clone import clone
from mpgraph.ir.memory import paused_gc
from mpgraph.ir.proto import in_memory, serialized
from mpgraph.ir.provenance import stamp
from mpgraph.ir.repair import repair, set_types_aside
from mpgraph.ir.scopes import nodes, opset_of
from mpgraph.ir.shadowing import rename_shadowing_values
from mpgraph.ir.tensors import replace_tensors, replaced_tensors
from mpgraph.ir.verifier import verify_structure
from mpgraph.ir.walk import survey

__all__ = ["version_convert"]

_LIMIT_BYTES = 1024


def version_convert(model: onnx_ir.Model, opset: int) -> onnx_ir.Model:
    """Returns the model with its operators rewritten to another version of the ONNX opset.

    onnx's converter sees stubs in the place of weights above 1 KiB. What it drops is put back:
    metadata of nodes, types of inputs and outputs, an IR version that the opset needs. Calls of
    local functions are inlined first, for it would leave their bodies at the old version. Nodes
    that it adds carry the provenance "version-convert". Other domains are untouched.

    Args:
        model: Unchanged. Returned itself when it has that version already.
        opset: Version of the default domain.

    Raises:
        ConversionError: The converter has no way from the one version to the other, or what it
            made is not valid.
    """
    current = opset_of("", model.opset_imports)
    if current is None or current == opset:
        return model
    source = model
    if model.functions:
        source = clone(model)
        InlinePass()(source)
    with paused_gc():
        weights: dict[str, onnx_ir.TensorProtocol] = {}
        proto = _with_stubs(source, weights)
        try:
            converted = onnx.version_converter.convert_version(proto, opset)
        except Exception as error:
            # The converter raises plain RuntimeErrors from C++.
            reason = " ".join(str(error).split())[:300]
            raise ConversionError(
                "the model", f"cannot be converted from opset {current} to {opset}: {reason}"
            ) from error
        needed = find_min_ir_version_for(list(converted.opset_import), ignore_unknown=True)
        converted.ir_version = max(converted.ir_version, needed)
        finding = checker_finding(stubbed(converted, survey(converted)), full=False)
        if finding is not None:
            raise ConversionError(
                "the model",
                f"is not valid after conversion from opset {current} to {opset}: {finding}",
            )
        result = _restored(converted, source, weights, f"opset {current} to {opset}")
    return result


def _with_stubs(model: onnx_ir.Model, weights: dict[str, onnx_ir.TensorProtocol]) -> ModelProto:
    def stub(tensor: onnx_ir.TensorProtocol) -> onnx_ir.TensorProtocol:
        if tensor.dtype == DataType.STRING or tensor.nbytes <= _LIMIT_BYTES:
            return in_memory(tensor)
        location = f"{STUB_LOCATION}#{len(weights)}"
        weights[location] = tensor
        return onnx_ir.ExternalTensor(
            location,
            offset=None,
            length=None,
            dtype=tensor.dtype,
            shape=onnx_ir.Shape(tensor.shape.numpy()),
            name=tensor.name or "",
        )

    with replaced_tensors(model, stub):
        return serialized(model)


def _restored(
    proto: ModelProto,
    source: onnx_ir.Model,
    weights: dict[str, onnx_ir.TensorProtocol],
    rule: str,
) -> onnx_ir.Model:
    found = survey(proto)
    repair(proto, found, "the converted model")
    set_types_aside(found)
    model = serde.deserialize_model(proto)
    rename_shadowing_values(model)

    def original(tensor: onnx_ir.TensorProtocol) -> onnx_ir.TensorProtocol:
        if isinstance(tensor, onnx_ir.ExternalTensor):
            return weights[str(tensor.location)]
        return tensor

    replace_tensors(model, original)
    _restore_metadata(model, source, rule)
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


def _restore_metadata(model: onnx_ir.Model, source: onnx_ir.Model, rule: str) -> None:
    names = Counter(node.name for node in nodes(source))
    by_name = {node.name: node for node in nodes(source) if node.name and names[node.name] == 1}
    by_output = {value.name: node for node in nodes(source) for value in node.outputs if value.name}
    for node in nodes(model):
        old = by_name.get(node.name or "")
        if old is None:
            old = next((by_output[v.name] for v in node.outputs if v.name in by_output), None)
        if old is not None:
            node.metadata_props.update(old.metadata_props)
        if old is None or old.op_type != node.op_type:
            stamp(node, "version-convert", rule)
