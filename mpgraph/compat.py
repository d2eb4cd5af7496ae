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
    ops, names = _given(op_block_list), _given(node_block_list)
    names |= _inner_names(model, ops, names)
    policy = PolicyMap("float16", list(_rules(ops, names)))
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


def _given(texts: Collection[str] | None) -> set[str]:
    return {text for text in texts or () if text}


def _inner_names(model: ir.Model, ops: set[str], names: set[str]) -> set[str]:
    """The names of all nodes inside blocked nodes; nodes without a name get one."""
    namer = ir.Namer(model)
    found: set[str] = set()
    for scope in ir.graphs(model):
        owner = scope.owner
        if owner is None or not (owner.op_type in ops or (owner.name or "") in names | found):
            continue
        for node in scope.graph:
            node.name = node.name or namer.node_name(node.op_type)
            found.add(node.name)
    return found


def _rules(ops: set[str], names: set[str]) -> Iterator[Rule]:
    kept = parse_policy("float32")
    for op in sorted(ops):
        yield Rule(kept, op=(_exactly(op),), reason="op_block_list", optional=True)
    for name in sorted(names):
        yield Rule(kept, name=(_exactly(name),), reason="node_block_list", optional=True)


def _exactly(text: str) -> Pattern:
    """A pattern for this text alone, whatever glob characters it holds."""
    return Pattern(text, "exact", re.compile(re.escape(text)), literal=text)
