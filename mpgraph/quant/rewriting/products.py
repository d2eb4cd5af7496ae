"""The parts that a MatMul or Gemm is taken into for a kernel that multiplies quantized numbers."""

from __future__ import annotations

from collections.abc import Sequence

from mpgraph import ir
from mpgraph.quant.placement.operands import gemm_factor
from mpgraph.quant.planned import PlannedWeight
from mpgraph.quant.rewriting.weights import StoredWeight, WeightStore
from mpgraph.quant.rewriting.writer import Writer
from mpgraph.schema import integer

__all__ = ["add_bias", "gemm_bias", "matrix_weight", "step", "take_factor"]


def step(
    writer: Writer,
    node: ir.Node,
    op_type: str,
    operands: Sequence[ir.Value],
    name: str,
    dtype: ir.DataType,
) -> ir.Value:
    """Add one node of what stands for another node; returns its result."""
    (result,) = writer.before(node, op_type, operands, [(name, dtype)], rule=f"for {node.op_type}")
    return result


def matrix_weight(
    store: WeightStore, node: ir.Node, plan: PlannedWeight, dtype: ir.DataType
) -> StoredWeight:
    """The weight of a MatMul or Gemm as [inputs, outputs], with the ``alpha`` of the Gemm in it.

    Args:
        store: Stores it.
        node: The node.
        plan: How the weight is stored.
        dtype: The float dtype that it is dequantized to.

    Raises:
        InputError: The weight holds NaN or infinities.
    """
    value, graph = node.inputs[1], node.graph
    if value is None or graph is None:
        raise ValueError(f"{ir.describe(node)}: it has no weight")
    transposed = node.op_type == "Gemm" and integer(node, "transB", 0, {})
    order = (1, 0) if transposed else (0, 1)
    return store.store(graph, value, plan, dtype, factor=gemm_factor(node, "alpha"), order=order)


def take_factor(node: ir.Node, name: str) -> float:
    """The factor ``alpha`` or ``beta`` of a Gemm, which has none afterwards; 1 for other nodes."""
    factor = gemm_factor(node, name)
    if factor != 1.0:
        node.attributes[name] = ir.AttrFloat32(name, 1.0)
    return factor


def gemm_bias(node: ir.Node) -> ir.Value | None:
    """The bias of a Gemm; None for what has none."""
    return node.inputs[2] if node.op_type == "Gemm" and len(node.inputs) > 2 else None


def add_bias(
    writer: Writer, node: ir.Node, product: ir.Value, bias: ir.Value, dtype: ir.DataType
) -> ir.Value:
    """Add the bias of a Gemm, times its ``beta``, to a product in its place.

    Args:
        writer: Adds the nodes.
        node: The Gemm.
        product: The product, of the dtype.
        bias: The bias, of the dtype.
        dtype: A float dtype.

    Returns:
        The sum.
    """
    beta, graph = gemm_factor(node, "beta"), node.graph
    if beta != 1.0 and graph is not None:
        factor = writer.scalar(graph, "beta", beta, dtype)
        bias = step(writer, node, "Mul", [bias, factor], f"{bias.name}_scaled", dtype)
    return step(writer, node, "Add", [product, bias], f"{product.name}_biased", dtype)
