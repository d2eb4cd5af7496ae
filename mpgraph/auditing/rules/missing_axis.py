"""MPG306: scales per axis that fit no axis."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]

_QUANTIZERS = frozenset({"QuantizeLinear", "DequantizeLinear"})
_AXES_SINCE = 13


def _search(context: Context) -> Iterator[Found]:
    for scope, node in context.subject.nodes():
        if node.op_type not in _QUANTIZERS or len(node.inputs) < 2:
            continue
        scale = node.inputs[1]
        scales = None if scale is None else context.weights.tensors.get(scale)
        if scales is None or len(scales.shape) != 1 or scales.size == 1:
            continue
        opset = ir.opset_of(node.domain, scope.opset_imports) or 0
        evidence = _evidence(context, node, scales.size, has_axes=bool(node.domain) or opset >= 13)
        if evidence:
            yield Found(
                finding="axis missing on per-axis Q/DQ",
                evidence=evidence,
                suggestion="set the attribute axis to the axis of the channels, with opset 13 or "
                "later",
                value=node.outputs[0],
                node=node,
            )


def _evidence(context: Context, node: ir.Node, count: int, *, has_axes: bool) -> str:
    if not has_axes:
        return f"{count} scales, and no axis before opset {_AXES_SINCE}"
    attribute = node.attributes.get("axis")
    axis = 1 if attribute is None or attribute.is_ref() else attribute.as_int()
    shape = None if node.inputs[0] is None else _shape(context, node.inputs[0])
    if shape is None:
        return ""
    named = "no axis is given, which means 1" if attribute is None else f"axis is {axis}"
    if not -len(shape) <= axis < len(shape):
        return f"{count} scales; {named}, of {len(shape)} axes"
    extent = shape[axis]
    if isinstance(extent, int) and extent != count:
        return f"{count} scales; {named}, of extent {extent}"
    return ""


def _shape(context: Context, value: ir.Value) -> ir.Dims | None:
    tensor = context.weights.tensors.get(value)
    if tensor is not None:
        return tuple(int(extent) for extent in tensor.shape.numpy())
    return context.subject.flow.shape(value)


RULE = Rule(
    code="MPG306",
    kind="missing-axis",
    title="axis missing on per-axis Q/DQ",
    severity="error",
    explanation="""
A QuantizeLinear or DequantizeLinear has one scale per channel, but the axis that they run along is
not said, or is not as long. Without the attribute it is axis 1; before opset 13 there was none, and
scales per axis are not valid at all.

Example: a Conv weight [64, 3, 7, 7] with 64 scales and no axis: they belong to axis 0, and axis 1
has extent 3.

Set axis (0 for Conv and Gemm with transB, 1 for MatMul), and raise the opset to 13.
""",
    search=_search,
)
