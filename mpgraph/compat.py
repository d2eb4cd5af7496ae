"""onnxconverter-common's float16 converter on mpgraph's engine, for programs that call it today.

The one-line change: ``from mpgraph import compat as float16`` in place of
``from onnxconverter_common import float16``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.conversion import convert
from mpgraph.policy import Pattern, PolicyMap, Rule, parse_policy

if TYPE_CHECKING:
    import onnx

__all__ = [
    "DEFAULT_OP_BLOCK_LIST",
    "convert_float_to_float16",
    "convert_float_to_float16_model_path",
]

DEFAULT_OP_BLOCK_LIST: list[str] = []
"""Empty, for programs that extend it: nothing has to be blocked by name here."""

_TARGET = "cpu"


def convert_float_to_float16(
    model: onnx.ModelProto,
    min_positive_val: float = 1e-7,
    max_finite_val: float = 1e4,
    keep_io_types: bool = False,
    disable_shape_infer: bool = False,
    op_block_list: Collection[str] | None = None,
    node_block_list: Collection[str] | None = None,
    check_fp16_ready: bool = True,
) -> onnx.ModelProto:
    """Convert a model to float16, as onnxconverter-common's function of this name does.

    Everything computes in float16 that may by its schema, that onnxruntime's CPU provider loads,
    and that no numeric hazard speaks against; the rest stays in float32 between casts. That
    provider is in every build of onnxruntime and takes what another one leaves, so the result
    loads with any of them. No session is opened: the caller's is the check.

    Differences, all of them on purpose: the given model is never changed; subgraphs, functions,
    shared initializers and casts are handled; weights are not clamped.

    Args:
        model: The model, of up to 2 GB.
        min_positive_val: Not needed; taken so that calls keep working. Constants that float16
            cannot hold stay in float32 rather than being moved to the nearest bound.
        max_finite_val: As ``min_positive_val``.
        keep_io_types: Whether graph inputs and outputs keep their dtypes.
        disable_shape_infer: Not needed; conversion does not depend on shape inference.
        op_block_list: Op types to keep in float32, with the subgraphs they hold; types that the
            model does not have are ignored. None blocks nothing, where onnxconverter-common has a
            list of ops that it cannot convert.
        node_block_list: Exact names of nodes to keep in float32, likewise.
        check_fp16_ready: Refuse a model that holds float16 already.

    Raises:
        ValueError: ``model`` is no ModelProto, or holds float16 and ``check_fp16_ready`` is set.
        InputError: The model is invalid.
    """
    if not _is_model_proto(model):
        raise ValueError(f"Expected model type is an ONNX ModelProto but got {type(model)}")
    return _converted(
        ir.load(model), keep_io_types, op_block_list, node_block_list, check_fp16_ready
    )


def convert_float_to_float16_model_path(
    model_path: str | os.PathLike[str],
    min_positive_val: float = 1e-7,
    max_finite_val: float = 1e4,
    keep_io_types: bool = False,
) -> onnx.ModelProto:
    """Convert a model file to float16; see ``convert_float_to_float16``.

    Raises:
        ValueError: The model holds float16 already.
        InputError: The file cannot be read, or the model is invalid.
    """
    return _converted(ir.load(model_path), keep_io_types, None, None, True)


def _converted(
    model: ir.Model,
    keep_io_types: bool,
    op_block_list: Collection[str] | None,
    node_block_list: Collection[str] | None,
    check_fp16_ready: bool,
) -> onnx.ModelProto:
    if check_fp16_ready and _holds_float16(model):
        raise ValueError(
            "The model is already converted to float16; "
            "to convert what is left of it, set check_fp16_ready=False."
        )
    policy = PolicyMap("float16", _block_rules(model, op_block_list or (), node_block_list or ()))
    result = convert(
        model,
        policy,
        target=_TARGET,
        keep_io_types=keep_io_types,
        allow_slow=True,
        verify="structure",
    )
    return result.to_proto()


def _is_model_proto(model: Any) -> bool:
    # By the message's own name: only mpgraph.ir imports onnx.
    descriptor = getattr(type(model), "DESCRIPTOR", None)
    return getattr(descriptor, "full_name", "") == "onnx.ModelProto"


def _holds_float16(model: ir.Model) -> bool:
    """Whether any value, initializer or Cast of the main graph is float16."""
    graph = model.graph
    values = [*graph.inputs, *graph.initializers.values(), *graph.outputs]
    values += [value for node in graph for value in node.outputs]
    if any(ir.element_dtype(value.type) == ir.DataType.FLOAT16 for value in values):
        return True
    return any(
        attribute.as_int() == ir.DataType.FLOAT16
        for node in graph
        if (node.domain, node.op_type) == ("", "Cast")
        and (attribute := node.attributes.get("to")) is not None
        and not attribute.is_ref()
    )


def _block_rules(model: ir.Model, ops: Collection[str], names: Collection[str]) -> list[Rule]:
    """A rule that keeps blocked nodes in float32; those without a name get one to be found by."""
    flow = infer_types(model)
    namer = ir.Namer(model)
    found: list[str] = []
    for node in _blocked(model, frozenset(ops), frozenset(filter(None, names))):
        dtypes = {flow.dtype(value) for value in (*node.inputs, *node.outputs)}
        if ir.DataType.DOUBLE not in dtypes:
            node.name = node.name or namer.node_name(node.op_type)
            found.append(node.name)
    if not found:
        return []
    patterns = tuple(_exactly(name) for name in dict.fromkeys(found))
    return [Rule(parse_policy("float32"), name=patterns, reason="it is on a block list")]


def _blocked(model: ir.Model, ops: Collection[str], names: Collection[str]) -> Iterator[ir.Node]:
    """The nodes that are listed, and all nodes of the subgraphs that a listed node holds."""
    blocked: set[ir.Node] = set()
    for scope in ir.graphs(model):
        for node in scope.graph:
            if scope.owner in blocked or node.op_type in ops or node.name in names:
                blocked.add(node)
                yield node


def _exactly(text: str) -> Pattern:
    """A pattern for this text alone, whatever glob characters it holds."""
    return Pattern(text, "exact", re.compile(re.escape(text)), literal=text)
