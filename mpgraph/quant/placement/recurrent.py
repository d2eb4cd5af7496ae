"""What becomes of recurrent nodes, which hold two matrices and step through time themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mpgraph import ir
from mpgraph.policy import QuantizationMode
from mpgraph.quant.placement.demand import Demand
from mpgraph.quant.planned import PlannedNode, PlannedWeight
from mpgraph.schema import integer

__all__ = ["RECURRENT", "plan_recurrent"]

RECURRENT = frozenset(["GRU", "LSTM", "RNN"])

_MATRICES = (1, 2)
"""The operands W and R: the weights of the input and of the hidden state."""


def plan_recurrent(
    graph: ir.Graph, keys: Mapping[ir.Node, str], demand: Demand
) -> Iterator[tuple[PlannedNode, tuple[PlannedWeight, ...]]]:
    """The recurrent nodes of a graph that a policy quantizes, with the weights to be stored."""
    for node in graph:
        mode = demand.mode(node) if node.domain == "" else None
        if mode is None or node.op_type not in RECURRENT:
            continue
        problem = demand.kept.get(node) or _problem(node, mode, demand)
        reason = problem or f"{demand.target} quantizes what it reads at every step"
        planned = PlannedNode(
            keys[node],
            node.name or "",
            node.op_type,
            ir.module_scope(node),
            mode.name,
            "float" if problem else "recurrent",
            True,
            reason,
        )
        weights = () if problem else tuple(_weights(node, mode, keys[node], demand))
        yield planned, weights


def _problem(node: ir.Node, mode: QuantizationMode, demand: Demand) -> str:
    """Why a node stays in float; empty where it does not."""
    if mode.activation_dtype is None:
        return f"{demand.target} would dequantize its weights each time it runs"
    if node.op_type not in demand.rules.recurrent or mode.weight_dtype != "int8":
        return f"{demand.target} has no {node.op_type} with {mode.weight_dtype} weights"
    if demand.flow.dtype(node.outputs[0] or node.inputs[0]) != ir.DataType.FLOAT:
        return f"{demand.target} quantizes an {node.op_type} in float32 only"
    if integer(node, "layout", 0, {}):
        return f"{demand.target} quantizes an {node.op_type} with time first only"
    for index in _MATRICES:
        constant = demand.constant(node.inputs[index])
        if constant is None or len(constant.shape) != 3 or constant.tensor.size == 0:
            return "its weights are not constant"
    return demand.harm(node)


def _weights(
    node: ir.Node, mode: QuantizationMode, key: str, demand: Demand
) -> Iterator[PlannedWeight]:
    for index in _MATRICES:
        constant = demand.constant(node.inputs[index])
        name = "" if constant is None else constant.base.name or ""
        bits = min(mode.weight_bits or 8, demand.rules.weight_bits)
        narrow = mode.narrow_range and bits == mode.weight_bits
        yield PlannedWeight(f"{key}:{index}", name, "int8", bits, True, narrow, 1, None)
