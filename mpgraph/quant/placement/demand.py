"""What a policy asks of one node, and what the target makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mpgraph import ir
from mpgraph.analysis import TypeFlow
from mpgraph.policy import QuantizationMode, Resolution
from mpgraph.quant.calibration import Calibration
from mpgraph.quant.placement.constants import Constant, find_constant
from mpgraph.quant.placement.operands import Operands, operands_of
from mpgraph.targets import QuantizationRules

__all__ = ["Candidate", "Demand", "find_candidate"]


@dataclass(frozen=True)
class Demand:
    """Everything that decides about quantization.

    Attributes:
        flow: The types of the model's values.
        resolutions: The policy of every node.
        rules: What the target fuses.
        target: The name of the target.
        calibration: The ranges of activations; None without data.
        opset: The version of the default domain that the model imports; None where it imports none.
        force: Whether quantization that only loses time on the target is carried out too.
        harmful: Activations and nodes that the outputs do not bear to be quantized, with
            the error.
        kept: Nodes that stay in float whatever their policy says, with the reason.
        constants: Constants behind values, filled as they are asked for.
    """

    flow: TypeFlow
    resolutions: Mapping[ir.Node, Resolution]
    rules: QuantizationRules
    target: str
    calibration: Calibration | None
    opset: int | None
    force: bool
    harmful: Mapping[ir.Value | ir.Node, float] = field(default_factory=dict)
    kept: Mapping[ir.Node, str] = field(default_factory=dict)
    constants: dict[ir.Value, Constant | None] = field(default_factory=dict)

    def mode(self, node: ir.Node) -> QuantizationMode | None:
        """The quantization mode of a node; None where its policy has none."""
        return self.resolutions[node].policy.mode

    def forces(self, node: ir.Node) -> bool:
        """Whether a node is quantized also where the target gains nothing by it."""
        return self.force or self.resolutions[node].explicit

    def constant(self, value: ir.Value | None) -> Constant | None:
        """The float constant behind a value."""
        found = find_constant(value, self.constants)
        return found if found is not None and found.tensor.dtype in ir.FLOATS else None

    def is_quantized(self, value: ir.Value) -> bool:
        """Whether the model holds a value as quantized numbers already."""
        producer = value.producer()
        if producer is not None and producer.op_type == "DequantizeLinear":
            return True
        readers = [use.node.op_type for use in value.uses()]
        return bool(readers) and set(readers) == {"QuantizeLinear"}

    def has_range(self, value: ir.Value) -> bool:
        """Whether the range of a value is known, and holds no mask."""
        calibration, name = self.calibration, value.name or ""
        return (
            calibration is not None and name in calibration.names and not calibration.left_out(name)
        )

    def may_round(self, value: ir.Value) -> bool:
        """Whether a value may be quantized for the sake of nodes that do not multiply."""
        return value not in self.harmful and self.has_range(value)

    def harm(self, node: ir.Node) -> str:
        """Why the outputs do not bear a node with int8 weights; empty where they do."""
        if node not in self.harmful or self.forces(node):
            return ""
        return f"its int8 weights cost the outputs {self.harmful[node]:.2g} of their energy"


@dataclass(frozen=True)
class Candidate:
    """A node that a mode is for, with the operands that it quantizes.

    Attributes:
        node: The node.
        mode: Its mode.
        operands: Which operand is what.
        weight: Its constant operand; None where both are computed when the model runs.
    """

    node: ir.Node
    mode: QuantizationMode
    operands: Operands
    weight: Constant | None


def find_candidate(node: ir.Node, demand: Demand) -> Candidate | None:
    """The candidate that a node is; None where its policy does not quantize, or it holds nothing to
    be quantized: a Gather of what is computed, a node that multiplies no floats."""
    mode = demand.mode(node)
    if mode is None:
        return None
    index = 0 if node.op_type == "Gather" else 1
    if len(node.inputs) <= index:
        return None
    value = node.inputs[index]
    if value is None:
        return None
    constant = demand.constant(value)
    shape = constant.shape if constant is not None else demand.flow.shape(value) or ()
    operands = operands_of(node, len(shape))
    if operands is None or demand.flow.dtype(value) not in ir.FLOATS:
        return None
    if node.op_type == "Gather" and (constant is None or len(shape) != 2 or operands.channels):
        return None
    if constant is not None and constant.tensor.size == 0:
        return None
    return Candidate(node, mode, operands, constant)
