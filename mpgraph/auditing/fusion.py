"""Which Q/DQ the CPU provider fuses with the node between them, by its own rules.

Written from onnxruntime 1.32, probed on x86-64: what it fuses depends on the operator, on 8-bit
types, and on whether everything around the node is quantized.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from mpgraph import ir
from mpgraph.analysis import TypeFlow

__all__ = ["dequantizers", "is_dequantizer", "is_quantizer", "unfused_reason"]

_EIGHT_BITS = {ir.DataType.INT8, ir.DataType.UINT8}
_SMALL = _EIGHT_BITS | {ir.DataType.INT4, ir.DataType.UINT4}
_SIXTEEN_BITS = {ir.DataType.INT16, ir.DataType.UINT16}
_CLIPS = frozenset({"Relu", "Clip"})
_DOMAINS = ("", "com.microsoft")


def is_quantizer(node: ir.Node | None) -> bool:
    """Whether a node is a QuantizeLinear."""
    return node is not None and node.op_type == "QuantizeLinear" and node.domain in _DOMAINS


def is_dequantizer(node: ir.Node | None) -> bool:
    """Whether a node is a DequantizeLinear."""
    return node is not None and node.op_type == "DequantizeLinear" and node.domain in _DOMAINS


def dequantizers(node: ir.Node) -> Iterator[tuple[int, ir.Node]]:
    """The DequantizeLinear nodes that a node takes its operands from, with their positions."""
    for index, value in enumerate(node.inputs):
        producer = None if value is None else value.producer()
        if producer is not None and is_dequantizer(producer):
            yield index, producer


def unfused_reason(node: ir.Node, flow: TypeFlow) -> str:
    """Why the CPU provider does not fuse the Q/DQ around a node; empty where it does.

    Args:
        node: A node with an operand that is dequantized.
        flow: The types of the model's values.
    """
    rule = _RULES.get(node.op_type) if node.domain == "" else None
    if rule is None:
        return f"{node.op_type} is never fused"
    return rule(node, flow)


def _stored(node: ir.Node, flow: TypeFlow) -> ir.DataType | None:
    return flow.dtype(node.inputs[0])


def _behind(node: ir.Node, flow: TypeFlow) -> list[ir.Node]:
    """The nodes that take the result; behind a Relu or Clip that a quantizer makes redundant."""
    users = [use.node for use in node.outputs[0].uses()]
    if len(users) == 1 and users[0].op_type in _CLIPS and not node.outputs[0].is_graph_output():
        behind = [use.node for use in users[0].outputs[0].uses()]
        if all(is_quantizer(one) and _clips_at_zero(one, flow) for one in behind):
            return behind
    return users


def _clips_at_zero(quantizer: ir.Node, flow: TypeFlow) -> bool:
    """Whether the least number that a quantizer writes stands for zero."""
    zero_point = quantizer.inputs[2] if len(quantizer.inputs) > 2 else None
    tensor = None if zero_point is None else ir.constant_tensor(zero_point)
    dtype = flow.dtype(quantizer.outputs[0])
    if tensor is None or dtype is None:
        return zero_point is None and dtype == ir.DataType.UINT8
    lowest = -(2 ** (dtype.bitwidth - 1)) if dtype.is_signed() else 0
    return bool((tensor.numpy() == lowest).all())


def _is_quantized_behind(node: ir.Node, flow: TypeFlow) -> bool:
    users = _behind(node, flow)
    public = any(value.is_graph_output() for value in node.outputs)
    return bool(users) and all(map(is_quantizer, users)) and not public


def _all_dequantized(node: ir.Node, flow: TypeFlow, count: int) -> str:
    found = dict(dequantizers(node))
    for index in range(min(count, len(node.inputs))):
        if index not in found:
            return f"operand {index} of the {node.op_type} is not dequantized"
        if _stored(found[index], flow) not in _EIGHT_BITS:
            return f"operand {index} of the {node.op_type} is not of 8 bits"
    return ""


def _convolution(node: ir.Node, flow: TypeFlow) -> str:
    missing = _all_dequantized(node, flow, 2)
    if missing:
        return missing
    return (
        "" if _is_quantized_behind(node, flow) else f"the result of the {node.op_type} stays float"
    )


def _matmul(node: ir.Node, flow: TypeFlow) -> str:
    return "" if _is_weight_only(node, flow) else _all_dequantized(node, flow, 2)


def _gemm(node: ir.Node, flow: TypeFlow) -> str:
    for name in ("alpha", "beta"):
        attribute = node.attributes.get(name)
        if attribute is not None and not attribute.is_ref() and attribute.as_float() != 1.0:
            return f"{name} of the Gemm is not 1"
    if _is_weight_only(node, flow):
        return ""
    missing = _all_dequantized(node, flow, 2)
    has_float_bias = len(node.inputs) > 2 and 2 not in dict(dequantizers(node))
    if not missing and has_float_bias and not _is_quantized_behind(node, flow):
        return "the bias of the Gemm and its result are float"
    return missing


def _is_weight_only(node: ir.Node, flow: TypeFlow) -> bool:
    """A constant weight of 4 or 8 bits, dequantized for this node alone: MatMulNBits."""
    found = dict(dequantizers(node))
    if set(found) != {1}:
        return False
    weight = found[1].inputs[0]
    alone = len(found[1].outputs[0].uses()) == 1
    constant = weight is not None and ir.constant_tensor(weight) is not None
    return alone and constant and _stored(found[1], flow) in _SMALL


def _between(node: ir.Node, flow: TypeFlow) -> str:
    """All operands dequantized, the result quantized."""
    missing = _all_dequantized(node, flow, len(node.inputs))
    if missing:
        return missing
    return (
        "" if _is_quantized_behind(node, flow) else f"the result of the {node.op_type} stays float"
    )


def _first(node: ir.Node, flow: TypeFlow) -> str:
    """The first operand dequantized, the result quantized; the others are shapes and indices."""
    found = dict(dequantizers(node))
    stored = _stored(found[0], flow) if 0 in found else None
    if stored not in _EIGHT_BITS | _SIXTEEN_BITS:
        return f"the operand of the {node.op_type} is not of 8 or 16 bits"
    if _is_quantized_behind(node, flow):
        return ""
    # onnxruntime moves a DequantizeLinear behind such a node, to what may take it there.
    moved = any(use.node.op_type in _RULES for use in node.outputs[0].uses())
    return "" if moved else f"the result of the {node.op_type} stays float"


def _where(node: ir.Node, flow: TypeFlow) -> str:
    found = dict(dequantizers(node))
    if not {1, 2} <= set(found):
        return "an operand of the Where is not dequantized"
    return "" if _is_quantized_behind(node, flow) else "the result of the Where stays float"


def _no_result(node: ir.Node, flow: TypeFlow) -> str:
    return ""


_Rule = Callable[[ir.Node, TypeFlow], str]
_RULES: Mapping[str, _Rule] = {
    "Conv": _convolution,
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Where": _where,
    "ArgMax": _no_result,
    **dict.fromkeys(
        (
            *("Add", "Mul", "Sigmoid", "LeakyRelu", "Softmax"),
            *("AveragePool", "GlobalAveragePool", "Concat"),
        ),
        _between,
    ),
    **dict.fromkeys(
        (
            *("Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Slice", "Gather"),
            *("Tile", "Expand", "Split", "MaxPool", "ReduceMax", "ReduceMin", "Resize"),
            *("DepthToSpace", "Identity"),
        ),
        _first,
    ),
}
