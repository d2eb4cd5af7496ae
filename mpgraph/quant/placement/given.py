"""Nodes that compute on quantized numbers in the model as it is given."""

from __future__ import annotations

from mpgraph import ir
from mpgraph.quant.placement.operands import WEIGHTED

__all__ = ["already_quantized", "has_stamped_quantizers"]

_STAMPS = frozenset(
    [
        "insert-quantizers",
        "pack-weights",
        "quantize-dynamically",
        "quantize-recurrent",
        "quantize-weights",
    ]
)
"""The passes that carry out a plan; what they insert names them."""


_INTEGER_OPERATORS = frozenset(
    {
        ("", "ConvInteger"),
        ("", "MatMulInteger"),
        ("", "QLinearConv"),
        ("", "QLinearMatMul"),
        ("com.microsoft", "DynamicQuantizeLSTM"),
        ("com.microsoft", "DynamicQuantizeMatMul"),
        ("com.microsoft", "GatherBlockQuantized"),
        ("com.microsoft", "MatMulBnb4"),
        ("com.microsoft", "MatMulInteger16"),
        ("com.microsoft", "MatMulIntegerToFloat"),
        ("com.microsoft", "MatMulNBits"),
        ("com.microsoft", "QAttention"),
        ("com.microsoft", "QGemm"),
        ("com.microsoft", "QLinearConv"),
        ("com.microsoft", "QMoE"),
    }
)


def already_quantized(node: ir.Node) -> str:
    """Why a node needs no quantization any more; empty where it is not quantized."""
    if (node.domain, node.op_type) in _INTEGER_OPERATORS:
        return f"{node.op_type} computes on quantized numbers already"
    if node.domain != "" or node.op_type not in WEIGHTED:
        return ""
    if node.op_type == "Gather":
        return "its table is quantized already" if _gathers_integers(node) else ""
    weight = node.inputs[1] if len(node.inputs) > 1 else None
    producer = None if weight is None else weight.producer()
    dequantized = producer is not None and producer.op_type == "DequantizeLinear"
    return "its weight is quantized already" if dequantized else ""


def has_stamped_quantizers(model: ir.Model) -> bool:
    """Whether a plan was carried out on a model before: what it left in float shall stay so."""
    return any((ir.origin(node) or ("",))[0] in _STAMPS for node in ir.nodes(model))


def _gathers_integers(node: ir.Node) -> bool:
    """Whether a Gather takes rows of small integers that become floats right behind it."""
    table = node.inputs[0]
    tensor = None if table is None else ir.constant_tensor(table)
    if tensor is None or len(tensor.shape) != 2 or tensor.dtype.bitwidth > 8:
        return False
    readers = [use.node.op_type for use in node.outputs[0].uses()]
    return bool(readers) and set(readers) <= {"Cast", "DequantizeLinear"}
