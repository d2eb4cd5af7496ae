"""The nodes that quantize, dequantize, or compute on quantized numbers, and by which scheme."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mpgraph import ir
from mpgraph.analysis.compute_dtype import QUANTIZED_OPERANDS
from mpgraph.auditing.collect.values import dtype_text
from mpgraph.auditing.collect.weights import Weights
from mpgraph.auditing.facts import QuantizationFact
from mpgraph.auditing.subject import Subject

__all__ = ["QUANTIZERS", "Quantized", "collect_quantization", "quantized_operands"]

QUANTIZERS = frozenset(
    {
        ("", "QuantizeLinear"),
        ("", "DequantizeLinear"),
        ("", "DynamicQuantizeLinear"),
        ("com.microsoft", "QuantizeLinear"),
        ("com.microsoft", "DequantizeLinear"),
    }
)
_BLOCKWISE = {
    ("com.microsoft", "MatMulNBits"): (1, 2, 3),
    ("com.microsoft", "GatherBlockQuantized"): (0, 2, 3),
}
_Granularity = Literal["tensor", "axis", "block", "dynamic"]


@dataclass(frozen=True, slots=True)
class Quantized:
    """The quantized value of a node, and its parameters where they are operands."""

    value: ir.Value | None
    scale: ir.Value | None = None
    zero_point: ir.Value | None = None


def collect_quantization(subject: Subject, weights: Weights) -> tuple[QuantizationFact, ...]:
    """Every node that deals with quantized numbers, in graph order."""
    return tuple(
        _fact(subject, weights, node, found)
        for _, node in subject.nodes()
        if (found := quantized_operands(node)) is not None
    )


def quantized_operands(node: ir.Node) -> Quantized | None:
    """The quantized operand of a node with its parameters; None where it deals with none."""
    operator = node.domain, node.op_type
    if operator in QUANTIZERS:
        if node.op_type == "DynamicQuantizeLinear":
            return Quantized(node.outputs[0], node.outputs[1], node.outputs[2])
        quantized = node.outputs[0] if node.op_type == "QuantizeLinear" else node.inputs[0]
        return Quantized(quantized, _input(node, 1), _input(node, 2))
    places = QUANTIZED_OPERANDS.get(operator) or _BLOCKWISE.get(operator)
    if places is None:
        return None
    return Quantized(*(_input(node, place) for place in places))


def _input(node: ir.Node, index: int | None) -> ir.Value | None:
    return node.inputs[index] if index is not None and index < len(node.inputs) else None


def _fact(subject: Subject, weights: Weights, node: ir.Node, found: Quantized) -> QuantizationFact:
    dtype = subject.flow.dtype(found.value)
    granularity = _granularity(node, found, weights)
    scale = None if found.scale is None else weights.ranges.get(found.scale)
    return QuantizationFact(
        key=subject.keys[node],
        node=subject.describe(node),
        op_type=node.op_type,
        scope=subject.module_paths[node],
        value="" if found.value is None else found.value.name or "",
        dtype=_bits(node) or dtype_text(dtype),
        granularity=granularity,
        axis=_axis(node) if granularity in ("axis", "block") else None,
        symmetric=_symmetric(dtype, found.zero_point, weights),
        scale_low=None if scale is None else scale.minimum,
        scale_high=None if scale is None else scale.maximum,
    )


def _bits(node: ir.Node) -> str:
    """The dtype of weights that are packed into bytes; empty where they are not."""
    attribute = node.attributes.get("bits")
    if (node.domain, node.op_type) not in _BLOCKWISE:
        return ""
    return f"uint{4 if attribute is None or attribute.is_ref() else attribute.as_int()}"


def _granularity(node: ir.Node, found: Quantized, weights: Weights) -> _Granularity:
    if (node.domain, node.op_type) in _BLOCKWISE:
        return "block"
    if found.scale is None:
        return "tensor"
    scale = weights.tensors.get(found.scale)
    if scale is None:
        return "dynamic"
    if len(scale.shape) > 1:
        return "block"
    return "tensor" if len(scale.shape) == 0 or scale.shape[0] == 1 else "axis"


def _axis(node: ir.Node) -> int:
    attribute = node.attributes.get("axis")
    return 1 if attribute is None or attribute.is_ref() else attribute.as_int()


def _symmetric(
    dtype: ir.DataType | None, zero_point: ir.Value | None, weights: Weights
) -> bool | None:
    if dtype is None:
        return None
    unsigned = dtype.is_integer() and not dtype.is_signed()
    middle = 2.0 ** (dtype.bitwidth - 1) if unsigned else 0.0
    if zero_point is None:
        return middle == 0
    found = weights.ranges.get(zero_point)
    return None if found is None else found.minimum == found.maximum == middle
