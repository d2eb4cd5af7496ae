"""How the constant operands of quantized nodes are stored."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.policy import QuantizationMode
from mpgraph.quant.formats import Format
from mpgraph.quant.placement.demand import Candidate, Demand
from mpgraph.quant.planned import Optimize, PlannedWeight
from mpgraph.targets import QuantizationRules

__all__ = ["activation_format", "operand_weights", "plan_weight"]


def activation_format(mode: QuantizationMode, rules: QuantizationRules) -> Format:
    """The format of activations: that of the mode, in the signedness that the target takes."""
    dtype = mode.activation_dtype or "int8"
    width = ir.parse_dtype(dtype).bitwidth
    same = [one for one in rules.activation_dtypes if ir.parse_dtype(one).bitwidth == width]
    if not dtype.startswith("float") and same and dtype not in same:
        dtype = same[0]
    return Format(dtype, bool(mode.activation_symmetric) or not rules.zero_points)


def plan_weight(
    candidate: Candidate, mode: QuantizationMode, reader: str, rules: QuantizationRules
) -> PlannedWeight:
    """The storage of the constant operand of a node that multiplies or gathers."""
    weight, operands = candidate.weight, candidate.operands
    if weight is None:
        raise ValueError(f"{reader}: no constant is there to be stored")
    base = weight.base.name or ""
    axis: int | None = operands.channels
    if candidate.node.op_type == "Gather":
        # Rows are dequantized by a product alone, without zero points.
        return PlannedWeight(reader, base, "int8", 8, True, True, axis, None)
    block = None
    if mode.weight_granularity == "block" and operands.inputs is not None:
        axis, block = operands.inputs, mode.block_size
    elif mode.weight_granularity == "tensor" or _needs_one_scale(candidate):
        axis = None
    bits = mode.weight_bits or 8
    if mode.activation_dtype is not None and mode.weight_dtype == "int8":
        bits = min(bits, rules.weight_bits)
    fixed_zero = mode.activation_dtype is not None and not rules.zero_points
    return PlannedWeight(
        reader,
        base,
        mode.weight_dtype,
        bits,
        mode.weight_symmetric or fixed_zero,
        mode.narrow_range and bits == mode.weight_bits,
        axis,
        block,
        _optimize(candidate, mode),
    )


def _optimize(candidate: Candidate, mode: QuantizationMode) -> Optimize:
    """Which algorithm rounds the weight; matrices alone have one that looks at activations."""
    weight = candidate.weight
    matrix = candidate.node.op_type in ("Gemm", "MatMul") and weight is not None
    if weight is None or not matrix or len(weight.shape) != 2 or mode.algorithm == "nearest":
        return "range"
    if mode.algorithm == "awq":
        return "awq"
    return "gptq-ordered" if mode.activation_order else "gptq"


def _needs_one_scale(candidate: Candidate) -> bool:
    """A MatMul whose weight is no matrix is fused with one scale only."""
    weight = candidate.weight
    return candidate.node.op_type == "MatMul" and weight is not None and len(weight.shape) != 2


def operand_weights(node: ir.Node, key: str, demand: Demand) -> Iterator[PlannedWeight]:
    """The constant operands of a node that has a kernel with scales of its own, such as Add."""
    for index, value in enumerate(node.inputs):
        constant = demand.constant(value)
        if constant is not None:
            dtype = demand.rules.activation_dtypes[0]
            symmetric = not demand.rules.zero_points
            yield PlannedWeight(
                f"{key}:{index}", constant.base.name or "", dtype, 8, symmetric, False, None, None
            )
