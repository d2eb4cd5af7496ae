"""The form in which one node is quantized, or why it is not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from mpgraph import ir
from mpgraph.policy import QuantizationMode
from mpgraph.quant.opsets import required_opset
from mpgraph.quant.placement.clipped import is_captured
from mpgraph.quant.placement.constants import Constant
from mpgraph.quant.placement.demand import Candidate, Demand
from mpgraph.quant.placement.packing import can_pack, is_shared, loses_weight
from mpgraph.quant.planned import Form
from mpgraph.schema import integer

__all__ = ["Choice", "choose"]

_FEW = 1 << 16
"""Elements of a table below which four more kernels cost more than the bytes they save."""

_CAPTURED = "a body reads activations of the graph around it"

_LONG = 32
"""Elements of a window from which on gathering them one by one takes longest."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What becomes of a node.

    Attributes:
        form: As in ``PlannedNode``.
        mode: The mode that holds, which may be the fallback of the one that was asked for.
        reason: Why, as a phrase.
        lacking: Why the fallback of the mode is taken; empty where it is not.
    """

    form: Form
    mode: QuantizationMode
    reason: str
    lacking: str = ""


def choose(candidate: Candidate, demand: Demand) -> Choice:
    """Choose the form of a node that a mode is for."""
    mode = candidate.mode
    problem = demand.kept.get(candidate.node) or _opset_problem(candidate, demand)
    if problem:
        return _float(candidate, problem)
    if candidate.node.op_type == "Gather":
        return _rows(candidate, demand)
    if candidate.weight is not None and _activation(candidate, demand) is not None:
        return _float(candidate, "it computes a constant")
    if mode.ranges == "static":
        return _static(candidate, demand)
    if mode.ranges == "dynamic":
        return _dynamic(candidate, demand)
    return _weights(candidate, demand)


def _opset_problem(candidate: Candidate, demand: Demand) -> str:
    """Why the opset has no room for a mode; empty where it has."""
    value = candidate.node.inputs[candidate.operands.weight]
    dtype = demand.flow.dtype(value)
    needed = required_opset(candidate.mode, "float32" if dtype is None else ir.dtype_name(dtype))
    if demand.opset is None or demand.opset >= needed:
        return ""
    return f"{candidate.mode.name} needs opset {needed}, and the model stays at {demand.opset}"


def _activation(candidate: Candidate, demand: Demand) -> Constant | None:
    """The constant that stands in the place of the activation; None where it is computed."""
    return demand.constant(candidate.node.inputs[candidate.operands.activation])


def _rows(candidate: Candidate, demand: Demand) -> Choice:
    """Rows of a table are gathered as they are stored and dequantized each by its own scale."""
    mode, table = candidate.mode, candidate.weight
    if table is not None and table.tensor.size < _FEW and not demand.forces(candidate.node):
        return _float(candidate, f"its table has {table.tensor.size} elements, too few to gain")
    if mode.weight_dtype in ("int8", "uint8") and mode.weight_bits == 8:
        return Choice("rows", mode, "a row takes a quarter of the bytes")
    return _float(candidate, f"{demand.target} gathers no {mode.weight_dtype} rows")


def _static(candidate: Candidate, demand: Demand) -> Choice:
    mode, node, rules = candidate.mode, candidate.node, demand.rules
    if demand.calibration is None:
        if mode.fallback is None:
            return _float(candidate, "static ranges need data, and none was given")
        return _with(candidate, mode.fallback, demand, rules.missing or "no data was given")
    multiplies = rules.multiplies_activations or demand.resolutions[node].explicit
    if candidate.weight is None and not multiplies:
        return _float(candidate, f"{demand.target} is slow where no operand is constant")
    kernels = rules.fuses(mode.activation_dtype or mode.weight_dtype)
    fused = node.op_type in rules.anchors and kernels
    if not fused and not demand.forces(node):
        if not kernels and mode.fallback is not None:
            lacking = f"{demand.target} computes nothing on {_width(mode)}-bit activations"
            return _with(candidate, mode.fallback, demand, lacking)
        return _float(candidate, rules.missing or _no_kernel(candidate, demand))
    if _captures(candidate, demand):
        if mode.fallback is None:
            return _float(candidate, f"{_CAPTURED}, where they are float")
        return _with(candidate, mode.fallback, demand, _CAPTURED)
    problem = "" if demand.forces(node) else _single_channel(candidate, demand)
    problem = (
        problem
        or _without_range(candidate, demand)
        or _behind_clip(candidate, demand)
        or _read_by_body(node, demand)
        or demand.harm(node)
    )
    if problem:
        return _float(candidate, problem)
    if not fused:
        return Choice("static", mode, f"asked for, although {demand.target} computes it in float")
    return Choice("static", mode, f"{demand.target} computes it in {_width(mode)} bits")


def _single_channel(candidate: Candidate, demand: Demand) -> str:
    """Why a Conv is slower in 8 bits; empty where it is not."""
    weight, node = candidate.weight, candidate.node
    if not demand.rules.slow_single_channel or weight is None or node.op_type != "Conv":
        return ""
    if integer(node, "group", 1, {}) != 1:
        return ""
    if weight.shape[1] == 1 and prod(weight.shape[2:]) >= _LONG:
        side = "input"
    elif weight.shape[0] == 1:
        side = "output"
    else:
        return ""
    return f"{demand.target} is slow in 8 bits on a Conv of one {side} channel"


def _dynamic(candidate: Candidate, demand: Demand) -> Choice:
    mode, node, weight = candidate.mode, candidate.node, candidate.weight
    if weight is None:
        return _float(candidate, f"{demand.target} is slow where no operand is constant")
    fused = node.op_type in demand.rules.dynamic and len(weight.shape) == 2
    if fused and mode.weight_dtype == "int8":
        return Choice("dynamic", mode, f"{demand.target} quantizes its activation when it runs")
    if demand.forces(node) and not _is_float8(mode):
        return Choice("dynamic", mode, f"asked for, although {demand.target} computes it in float")
    if _is_float8(mode):
        if demand.forces(node):
            return Choice("weights", mode, "nothing quantizes to float8 when a model runs")
        return _float(candidate, f"{demand.target} quantizes nothing to float8 when it runs")
    missing = f"{demand.target} has no dynamically quantized {node.op_type}"
    return _float(candidate, demand.rules.missing or missing)


def _weights(candidate: Candidate, demand: Demand) -> Choice:
    mode, node, weight = candidate.mode, candidate.node, candidate.weight
    if weight is None:
        return _float(candidate, "it has no constant weight")
    fused = node.op_type in demand.rules.weights and len(weight.shape) == 2 and not _is_float8(mode)
    if not fused and not demand.forces(node):
        return _float(candidate, f"{demand.target} would dequantize its weight each time it runs")
    lost = fused and loses_weight(candidate, demand)
    wants_blocks = mode.weight_granularity == "block" and (
        demand.rules.packed or is_shared(candidate)
    )
    if fused and (lost or wants_blocks) and can_pack(candidate):
        return Choice("packed", mode, f"{demand.target} multiplies packed blocks")
    if lost and not demand.forces(node):
        reason = f"{demand.target} would dequantize its weight each time it runs"
        return _float(candidate, reason)
    return Choice("weights", mode, "its weight is dequantized where it is used")


def _with(candidate: Candidate, mode: QuantizationMode, demand: Demand, lacking: str) -> Choice:
    return replace(choose(replace(candidate, mode=mode), demand), lacking=lacking)


def _no_kernel(candidate: Candidate, demand: Demand) -> str:
    if _is_float8(candidate.mode):
        return f"{demand.target} computes nothing in float8"
    return f"{demand.target} computes {candidate.node.op_type} in float"


def _float(candidate: Candidate, reason: str) -> Choice:
    return Choice("float", candidate.mode, reason)


def _width(mode: QuantizationMode) -> int:
    return ir.parse_dtype(mode.activation_dtype or mode.weight_dtype).bitwidth


def _is_float8(mode: QuantizationMode) -> bool:
    return mode.weight_dtype.startswith("float")


def _captures(candidate: Candidate, demand: Demand) -> bool:
    """Whether an activation comes from the graph around a body."""
    values = [candidate.node.inputs[index] for index in _computed(candidate)]
    return any(
        value.graph is not candidate.node.graph
        and demand.constant(value) is None
        and not demand.is_quantized(value)
        for value in values
        if value is not None
    )


def _computed(candidate: Candidate) -> tuple[int, ...]:
    """The operands that may be activations."""
    operands = candidate.operands
    if candidate.weight is None:
        return (operands.activation, operands.weight)
    return (operands.activation,)


def _without_range(candidate: Candidate, demand: Demand) -> str:
    """Why the range of an operand that is computed is not known; empty where all are."""
    for index in _computed(candidate):
        value = candidate.node.inputs[index]
        if value is None or demand.constant(value) is not None or demand.has_range(value):
            continue
        if demand.is_quantized(value):
            continue
        calibration, name = demand.calibration, value.name or ""
        if calibration is not None and name in calibration.names:
            return f"{name} holds mask values"
        why = "" if calibration is None else calibration.missing.get(name, "it was not observed")
        return f"the range of {name} is not known: {why}"
    return ""


def _read_by_body(node: ir.Node, demand: Demand) -> str:
    """Why the result cannot be quantized where it has to be; empty where it can."""
    if node.op_type in demand.rules.results and is_captured(node):
        return "a body of control flow reads its result in float"
    return ""


def _behind_clip(candidate: Candidate, demand: Demand) -> str:
    """Why a float8 activation cannot be written; empty where it can."""
    value = candidate.node.inputs[candidate.operands.activation]
    producer = None if value is None else value.producer()
    clipped = producer is not None and producer.op_type in ("Clip", "Relu")
    if clipped and _is_float8(candidate.mode) and not demand.rules.low_behind_clips:
        return f"{demand.target} does not load float8 behind a Relu or Clip"
    return ""
