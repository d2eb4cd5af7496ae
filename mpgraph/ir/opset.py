"""Opset conversion by onnx's own converter, for models of any size."""

from __future__ import annotations

from collections import Counter

import onnx.version_converter
import onnx_ir
from onnx.helper import find_min_ir_version_for

from mpgraph.errors import ConversionError
from mpgraph.ir.checker import checker_finding, stubbed
from mpgraph.ir.clone import clone
from mpgraph.ir.inlining import inline_functions
from mpgraph.ir.memory import paused_gc
from mpgraph.ir.provenance import stamp
from mpgraph.ir.scopes import nodes, opset_of
from mpgraph.ir.stubs import restored, with_stubs
from mpgraph.ir.walk import survey

__all__ = ["version_convert"]


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
        inline_functions(source)
    with paused_gc():
        proto, weights = with_stubs(source)
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
        result = restored(converted, source, weights)
        _restore_metadata(result, source, f"opset {current} to {opset}")
    return result


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
