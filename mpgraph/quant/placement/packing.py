"""Which products the CPU provider fuses with other nodes before it looks for their weights."""

from __future__ import annotations

from collections.abc import Collection

from mpgraph import ir
from mpgraph.quant.placement.demand import Candidate, Demand
from mpgraph.quant.placement.operands import gemm_factor

__all__ = ["can_pack", "is_drawn_in", "is_shared", "loses_weight"]

_ACTIVATIONS = frozenset(["LeakyRelu", "Relu"])
"""What onnxruntime 1.32 makes a FusedGemm of, together with the Gemm before it."""


def can_pack(candidate: Candidate) -> bool:
    """Whether MatMulNBits takes the weight: integers, with blocks of a power of two from 16 up, or
    with scales that hold for several blocks."""
    mode = candidate.mode
    if mode.weight_granularity != "block":
        return not mode.weight_dtype.startswith("float")
    size = mode.block_size
    return size is not None and size >= 16 and size & (size - 1) == 0


def is_shared(candidate: Candidate) -> bool:
    """Whether several nodes read the weight."""
    weight = candidate.weight
    return weight is not None and len(list(weight.base.uses())) > 1


def loses_weight(candidate: Candidate, demand: Demand) -> bool:
    """Whether the DequantizeLinear of a weight would be left over, as its reader is fused first.

    onnxruntime 1.32 on the CPU makes a Gemm of a MatMul and an Add, and a FusedGemm of a Gemm and
    an activation, and then has no kernel with a quantized weight for it; nor has it one for a Gemm
    with factors, for float16, or for a weight that other nodes read too.
    """
    node = candidate.node
    if not demand.rules.fuses_float:
        return False
    if is_shared(candidate) or demand.flow.dtype(node.outputs[0]) == ir.DataType.FLOAT16:
        return True
    if node.op_type == "MatMul":
        return is_drawn_in(node, demand)
    if any(gemm_factor(node, name) != 1.0 for name in ("alpha", "beta")):
        return True
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    return (bias is not None and not _is_bias(bias, demand)) or is_drawn_in(node, demand)


def is_drawn_in(node: ir.Node, demand: Demand) -> bool:
    """Whether onnxruntime fuses a product with what reads its result before it looks for quantized
    operands: on the CPU a MatMul of matrices with an Add, a Gemm with a Relu."""
    if not demand.rules.fuses_float:
        return False
    if node.op_type == "Gemm":
        return _is_activated(node)
    value = node.inputs[0]
    shape = None if value is None else demand.flow.shape(value)
    is_matrix = shape is None or len(shape) == 2
    return node.op_type == "MatMul" and is_matrix and _is_read_by(node, {"Add"})


def _is_bias(value: ir.Value | None, demand: Demand) -> bool:
    constant = demand.constant(value)
    return constant is not None and len(constant.shape) == 1


def _is_activated(node: ir.Node) -> bool:
    """Whether an activation alone reads the result."""
    return _is_read_by(node, _ACTIVATIONS)


def _is_read_by(node: ir.Node, operators: Collection[str]) -> bool:
    """Whether one node alone reads the result, in the same graph, and is of some operators."""
    reader = ir.only_reader(node.outputs[0])
    return reader is not None and reader.graph is node.graph and reader.op_type in operators
