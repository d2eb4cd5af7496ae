"""Let a Clip stand for a HardSigmoid behind a convolution, whose quantization it vanishes into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mpgraph import ir
from mpgraph.analysis import infer_types_and_shapes
from mpgraph.passmgr import Facts, Pass
from mpgraph.policy import PolicyMap, Resolution, as_policy_map, resolve_nodes
from mpgraph.quant.affine import Multiplier, find_multiplier
from mpgraph.quant.placement.constants import Constant, find_constant
from mpgraph.quant.rewriting import Writer, put_constant
from mpgraph.runtime import DataSet
from mpgraph.targets import Target, get_target, quantization_rules

__all__ = ["ClipHardSigmoids"]

_FLOAT = ir.DataType.FLOAT
_ALPHA, _BETA = 0.2, 0.5
"""What a HardSigmoid takes that names no factors."""

_BOUNDS_ARE_INPUTS_SINCE = 11


@dataclass(frozen=True)
class ClipHardSigmoids(Pass):
    """Put the factors of a HardSigmoid into the Conv that alone computes its operand.

    Clip(alpha * x + beta, 0, 1) is what it computes; as a Clip it is part of a quantized Conv where
    the target fuses that, instead of a float node between conversions. Without data, or where a
    policy asks for no static ranges, nothing is done.

    Attributes:
        policy: A policy name; empty takes the ``PolicyMap`` that the facts hold.
        target: A target name; empty takes the ``Target`` that the facts hold.
    """

    policy: str = ""
    target: str = ""

    name: ClassVar[str] = "clip-hard-sigmoids"

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Rewrite the main graph."""
        if facts.find(DataSet) is None or not any(_is_hard(node) for node in model.graph):
            return False
        policy = as_policy_map(self.policy) if self.policy else facts.get(PolicyMap)
        target = get_target(self.target) if self.target else facts.get(Target)
        rules = quantization_rules(target)
        opset = ir.opset_of("", model.opset_imports) or 0
        if "Conv" not in rules.anchors or "Clip" not in rules.clippers:
            return False
        if opset < _BOUNDS_ARE_INPUTS_SINCE:
            return False
        resolutions = resolve_nodes(model, policy)
        flow = infer_types_and_shapes(model)
        known: dict[ir.Value, Constant | None] = {}
        writer = Writer(model, self.name)
        changed = False
        for node in list(model.graph):
            conv = _conv_before(node, resolutions)
            if conv is None:
                continue
            multiplier = find_multiplier(conv, flow, lambda value: find_constant(value, known))
            if multiplier is not None and multiplier.weight.tensor.dtype == _FLOAT:
                _clip(writer, model.graph, node, multiplier)
                changed = True
        return changed


def _is_hard(node: ir.Node) -> bool:
    return node.op_type == "HardSigmoid" and node.domain == ""


def _conv_before(node: ir.Node, resolutions: Mapping[ir.Node, Resolution]) -> ir.Node | None:
    """The Conv, to be quantized with static ranges, whose result a HardSigmoid alone reads."""
    value = node.inputs[0] if _is_hard(node) else None
    conv = None if value is None else value.producer()
    if value is None or conv is None or conv.op_type != "Conv":
        return None
    if ir.only_reader(value) is None or resolutions[node].explicit:
        return None
    modes = [resolutions[one].policy.mode for one in (conv, node)]
    if any(mode is None or mode.ranges != "static" for mode in modes):
        return None
    return conv


def _clip(writer: Writer, graph: ir.Graph, node: ir.Node, multiplier: Multiplier) -> None:
    alpha, beta = _factor(node, "alpha", _ALPHA), _factor(node, "beta", _BETA)
    conv, source = multiplier.node, multiplier.weight.tensor
    factor: NDArray[Any] = np.asarray(alpha, np.float32)
    weight = ir.derived_tensor(source, lambda array: array * factor, source.dtype)
    bias = np.zeros(1) if multiplier.bias is None else multiplier.bias
    shifted = np.broadcast_to(bias * alpha + beta, (multiplier.written.count,))
    name = multiplier.weight.base.name or "weight"
    former = conv.inputs[2] if len(conv.inputs) > 2 else None
    bias_name = name if former is None else former.name or name
    put_constant(writer, conv, 1, f"{name}_scaled", weight)
    put_constant(writer, conv, 2, f"{bias_name}_scaled", ir.tensor(shifted.astype(np.float32)))
    operand, result = conv.outputs[0], node.outputs[0]
    bounds = [writer.scalar(graph, "bound", number, _FLOAT) for number in (0.0, 1.0)]
    rule = "a HardSigmoid whose factors the Conv before it takes"
    (clipped,) = writer.before(
        node, "Clip", [operand, *bounds], [(f"{result.name}_clipped", _FLOAT)], rule=rule
    )
    writer.replace(node, clipped)
    operand.name = writer.free_name(f"{operand.name}_scaled")


def _factor(node: ir.Node, name: str, default: float) -> float:
    attribute = node.attributes.get(name)
    return default if attribute is None else attribute.as_float()
