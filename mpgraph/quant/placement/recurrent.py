"""What becomes of recurrent nodes, which hold two matrices and step through time themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mpgraph import ir
from mpgraph.policy import QuantizationMode
from mpgraph.quant.opsets import required_opset
from mpgraph.quant.placement.demand import Demand
from mpgraph.quant.planned import Form, PlannedNode, PlannedWeight
from mpgraph.schema import integer

__all__ = ["RECURRENT", "plan_recurrent"]

RECURRENT = frozenset(["GRU", "LSTM", "RNN"])

_MATRICES = (1, 2)
"""The operands W and R: the weights of the input and of the hidden state."""


_STEPS, _INPUTS = 1, 2
"""The axes of both: gates times hidden size, and what is multiplied."""


def plan_recurrent(
    graph: ir.Graph, keys: Mapping[ir.Node, str], demand: Demand
) -> Iterator[tuple[PlannedNode, tuple[PlannedWeight, ...]]]:
    """The recurrent nodes of a graph that a policy quantizes, with the weights to be stored."""
    for node in graph:
        mode = demand.mode(node) if node.domain == "" else None
        if mode is None or node.op_type not in RECURRENT:
            continue
        form, reason = _choose(node, mode, demand)
        planned = PlannedNode(
            keys[node],
            node.name or "",
            node.op_type,
            ir.module_scope(node),
            mode.name,
            form,
            True,
            reason,
        )
        stored = {"recurrent": _int8_weights, "weights": _dequantized_weights}.get(form)
        yield planned, () if stored is None else tuple(stored(node, mode, keys[node], demand))


def _choose(node: ir.Node, mode: QuantizationMode, demand: Demand) -> tuple[Form, str]:
    """The form of a node, with the reason."""
    problem = demand.kept.get(node) or _no_weights(node, demand)
    if problem:
        return "float", problem
    lacking = _no_kernel(node, mode, demand)
    if not lacking:
        harm = demand.harm(node)
        return (
            ("float", harm)
            if harm
            else ("recurrent", f"{demand.target} quantizes what it reads at every step")
        )
    if not demand.forces(node):
        return "float", lacking
    needed = required_opset(mode, "float32")
    if demand.opset is not None and demand.opset < needed:
        return "float", f"{mode.name} needs opset {needed}, and the model stays at {demand.opset}"
    return "weights", f"asked for, although {lacking}"


def _no_weights(node: ir.Node, demand: Demand) -> str:
    """Why a node holds nothing to be quantized; empty where it does."""
    for index in _MATRICES:
        constant = demand.constant(node.inputs[index])
        if constant is None or len(constant.shape) != 3 or constant.tensor.size == 0:
            return "its weights are not constant"
    return ""


def _no_kernel(node: ir.Node, mode: QuantizationMode, demand: Demand) -> str:
    """Why the target does not compute a node on quantized weights; empty where it does."""
    if mode.activation_dtype is None:
        return f"{demand.target} would dequantize its weights each time it runs"
    if node.op_type not in demand.rules.recurrent or mode.weight_dtype != "int8":
        return f"{demand.target} has no {node.op_type} with {mode.weight_dtype} weights"
    if demand.flow.dtype(node.outputs[0] or node.inputs[0]) != ir.DataType.FLOAT:
        return f"{demand.target} quantizes an {node.op_type} in float32 only"
    if integer(node, "layout", 0, {}):
        return f"{demand.target} quantizes an {node.op_type} with time first only"
    return ""


def _int8_weights(
    node: ir.Node, mode: QuantizationMode, key: str, demand: Demand
) -> Iterator[PlannedWeight]:
    """The weights of a kernel that multiplies by int8."""
    bits = min(mode.weight_bits or 8, demand.rules.weight_bits)
    narrow = mode.narrow_range and bits == mode.weight_bits
    for index in _MATRICES:
        name = _name(node, index, demand)
        yield PlannedWeight(f"{key}:{index}", name, "int8", bits, True, narrow, _STEPS, None)


def _dequantized_weights(
    node: ir.Node, mode: QuantizationMode, key: str, demand: Demand
) -> Iterator[PlannedWeight]:
    """The weights as the mode stores them, for a kernel in float."""
    axis, block = _STEPS, None
    if mode.weight_granularity == "block":
        axis, block = _INPUTS, mode.block_size
    for index in _MATRICES:
        yield PlannedWeight(
            f"{key}:{index}",
            _name(node, index, demand),
            mode.weight_dtype,
            mode.weight_bits or 8,
            mode.weight_symmetric,
            mode.narrow_range,
            None if mode.weight_granularity == "tensor" else axis,
            block,
        )


def _name(node: ir.Node, index: int, demand: Demand) -> str:
    constant = demand.constant(node.inputs[index])
    return "" if constant is None else constant.base.name or ""
