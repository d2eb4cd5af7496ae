"""Bring the channels of activations between convolutions to like ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.calibration import observe_channels
from mpgraph.passmgr import Facts, Pass
from mpgraph.policy import PolicyMap, Resolution, as_policy_map, resolve_nodes
from mpgraph.quant.affine import Multiplier, find_multiplier
from mpgraph.quant.equalization import (
    ChannelStatistics,
    Gate,
    Group,
    Rounding,
    channel_factors,
    find_gates,
    find_groups,
)
from mpgraph.quant.form_errors import FINE
from mpgraph.quant.placement.constants import Constant, find_constant
from mpgraph.quant.rewriting import Writer, remove_unread
from mpgraph.runtime import DataSet, input_specs, load_data
from mpgraph.runtime.inputs import data_as_inputs
from mpgraph.targets import QuantizationRules, Target, get_target, quantization_rules

__all__ = ["EqualizeChannels"]

Array = NDArray[Any]

_FLOAT = ir.DataType.FLOAT


@dataclass(frozen=True)
class EqualizeChannels(Pass):
    """Scale channels between Conv nodes, so that one scale for all of them loses less.

    The weights before are multiplied by a factor per channel and those behind divided by it,
    through Relu, LeakyRelu, pooling, residual Adds and gates such as HardSwish: what shifts the
    gate becomes a depthwise Conv, which takes the factor back. Factors are powers of two; kept is
    what is expected to lower the error enough, from ranges and energies measured on data. A Mul or
    Div by one number in between goes into the weights behind as well. Without data, or where a
    policy asks for no static ranges, nothing is done.

    Attributes:
        policy: A policy name; empty takes the ``PolicyMap`` that the facts hold.
        target: A target name; empty takes the ``Target`` that the facts hold.
        data: A file, folder or script as for ``--data``; empty takes the ``DataSet`` that the facts
            hold, if they do.
        exponents: How far ranges are brought together, to try; none switches the scaling off.
        fine: Squared error over energy below which a group is left alone.
        gain: To what part the expected error must fall: the model is good for a factor of two.
        samples: Samples to run at most.
        memory: Bound of the arrays that leave the model in one run, such as 512MB.
    """

    policy: str = ""
    target: str = ""
    data: str = ""
    exponents: tuple[float, ...] = (0.25, 0.5, 0.75, 1.0)
    fine: float = FINE
    gain: float = 0.5
    samples: int = 8
    memory: str = "512MB"

    name: ClassVar[str] = "equalize-channels"

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Equalise the main graph."""
        feeds = self._feeds(model, facts)
        if feeds is None:
            return False
        policy = as_policy_map(self.policy) if self.policy else facts.get(PolicyMap)
        target = get_target(self.target) if self.target else facts.get(Target)
        rules = quantization_rules(target)
        equalizer = _Equalizer(model, resolve_nodes(model, policy), rules, self)
        if not equalizer.multipliers:
            return False
        names = equalizer.observed()
        if not names:
            return False
        statistics = observe_channels(model, feeds, names, samples=self.samples, memory=self.memory)
        return equalizer.equalize(statistics)

    def _feeds(self, model: ir.Model, facts: Facts) -> DataSet | None:
        inputs = input_specs(model)
        if self.data:
            return load_data(self.data, inputs)
        given = facts.find(DataSet)
        return None if given is None else data_as_inputs(given, inputs)


class _Equalizer:
    def __init__(
        self,
        model: ir.Model,
        resolutions: Mapping[ir.Node, Resolution],
        rules: QuantizationRules,
        options: EqualizeChannels,
    ) -> None:
        self._graph = model.graph
        self._writer = Writer(model, EqualizeChannels.name)
        self._flow = replace(infer_types(model), shapes=ir.infer_shapes(model))
        self._resolutions = resolutions
        self._bits = rules.weight_bits
        self._options = options
        self._known: dict[ir.Value, Constant | None] = {}
        self._gates: dict[ir.Node, Gate] = {}
        for gate in find_gates(self._graph, self._find):
            self._gates |= {gate.add: gate, gate.product: gate}
        self.multipliers: dict[ir.Node, Multiplier] = {}
        for node in self._graph:
            found = self._multiplier(node) if _is_for(node, resolutions, rules) else None
            if found is not None:
                self.multipliers[node] = found

    def observed(self) -> list[str]:
        """The values whose channels decide."""
        groups = self._groups()
        values = [reader.value for group in groups for reader in group.readers]
        values += [gate.value for group in groups for gate in group.gates]
        return [value.name or "" for value in values]

    def equalize(self, statistics: ChannelStatistics) -> bool:
        """Scale every group that gains by it."""
        changed = False
        for group in self._groups():
            factors = self._factors(group, statistics)
            if factors is None:
                if not group.dropped:
                    continue
                factors = np.ones(group.channels, np.float32)
            self._apply(group, factors)
            changed = True
        return changed

    def _groups(self) -> list[Group]:
        found = find_groups(self.multipliers, self._gates, self._flow, self._find)
        return [group for group in found if not self._is_asked_for(group)]

    def _is_asked_for(self, group: Group) -> bool:
        """Whether a rule speaks of a node that would be gone."""
        gone = [*(node for node, _ in group.dropped), *(gate.add for gate in group.gates)]
        return any(node in self._resolutions and self._resolutions[node].explicit for node in gone)

    def _factors(self, group: Group, statistics: ChannelStatistics) -> Array | None:
        """The factors for a group; None where they gain too little."""
        gated = [(gate, statistics.values.get(gate.value.name or "")) for gate in group.gates]
        known = []
        for reader in group.readers:
            channels = statistics.values.get(reader.value.name or "")
            if channels is not None:
                number = 1.0 / group.values[reader.value]
                before = [
                    Rounding(gate.extent(one), gate.slope(one) * number)
                    for gate, one in gated
                    if one is not None
                ]
                known.append((self.multipliers[reader.multiplier.node], channels, before))
        if len(known) < len(group.readers) or not self._options.exponents:
            return None
        factors, plain, least = channel_factors(known, self._options.exponents, self._bits)
        if plain < self._options.fine or least > plain * self._options.gain:
            return None
        return factors

    def _apply(self, group: Group, factors: Array) -> None:
        scales = {value: factors * np.float32(one) for value, one in group.values.items()}
        self._scale_weights(group, scales)
        for shift in group.shifts:
            operand = shift.node.inputs[1 - shift.index]
            if operand is not None and _changes(scales[operand]):
                self._scale_shift(shift.node, shift.index, shift.constant, scales[operand])
        for gate in group.gates:
            if _changes(scales[gate.value]):
                self._open_gate(gate, scales[gate.value])
        for value, scale in scales.items():
            if _changes(scale):
                value.name = self._writer.free_name(f"{value.name}_equalized")
        for node, _ in group.dropped:
            self._drop(node)

    def _scale_weights(self, group: Group, scales: Mapping[ir.Value, Array]) -> None:
        """Multiply the weights before a group, and divide those behind it."""
        reads = {reader.multiplier.node: scales[reader.value] for reader in group.readers}
        for node in dict.fromkeys((*group.sources, *reads)):
            multiplier = self.multipliers[node]
            factor = np.ones(1)
            if node in reads:
                factor = factor * multiplier.weight_factor(np.reciprocal(reads[node]), reads=True)
            if node in group.sources:
                written = scales[node.outputs[0]]
                factor = factor * multiplier.weight_factor(written, reads=False)
                if multiplier.bias is not None and _changes(written):
                    bias = (multiplier.bias * written).astype(np.float32)
                    self._put(node, 2, ir.tensor(bias))
            if _changes(factor):
                self._put(node, 1, _times(multiplier.weight.tensor, factor.astype(np.float32)))
            found = self._multiplier(node)
            if found is not None:
                self.multipliers[node] = found

    def _scale_shift(self, node: ir.Node, index: int, constant: Constant, scale: Array) -> None:
        rank = len(self._flow.shape(node.outputs[0]) or ())
        array = np.asarray(constant.tensor.numpy(), np.float32)
        array = array.reshape((1,) * (rank - array.ndim) + array.shape)
        spread = scale.reshape(1, -1, *(1,) * (rank - 2))
        self._put(node, index, ir.tensor(np.asarray(array * spread, np.float32)))

    def _open_gate(self, gate: Gate, scale: Array) -> None:
        """Let a depthwise Conv do what the Add of a gate did, from the scaled value."""
        rank = len(self._flow.shape(gate.value) or ())
        result, channels = gate.add.outputs[0], scale.size
        weight = np.reciprocal(scale).reshape(channels, *(1,) * (rank - 1))
        bias = np.repeat(np.asarray(gate.shift.tensor.numpy(), np.float32).reshape(-1), channels)
        name = result.name or "gate"
        operands = [
            gate.value,
            self._writer.constant(self._graph, f"{name}_weight", ir.tensor(weight)),
            self._writer.constant(self._graph, f"{name}_bias", ir.tensor(bias)),
        ]
        (shifted,) = self._writer.before(
            gate.add,
            "Conv",
            operands,
            [(name, _FLOAT)],
            [ir.AttrInt64("group", channels), ir.AttrInt64s("kernel_shape", [1] * (rank - 2))],
            rule="a gate sees the value before its channels were scaled",
        )
        operands_before = list(gate.add.inputs)
        self._writer.replace(gate.add, shifted)
        for operand in operands_before:
            remove_unread(operand)

    def _drop(self, node: ir.Node) -> None:
        (operand,) = (value for value in node.inputs if value and self._find(value) is None)
        operands, graph = list(node.inputs), node.graph
        node.outputs[0].replace_all_uses_with(operand)
        if graph is not None:
            graph.remove(node, safe=True)
        for one in operands:
            remove_unread(one)

    def _put(self, node: ir.Node, index: int, tensor: ir.TensorProtocol) -> None:
        former = node.inputs[index]
        base = self._find(former)
        name = "constant" if base is None else base.base.name or "constant"
        value = self._writer.constant(self._graph, f"{name}_equalized", tensor)
        node.replace_input_with(index, value)
        remove_unread(former)

    def _multiplier(self, node: ir.Node) -> Multiplier | None:
        found = find_multiplier(node, self._flow, self._find)
        fits = found is not None and found.convolves and found.weight.tensor.dtype == _FLOAT
        return found if fits else None

    def _find(self, value: ir.Value | None) -> Constant | None:
        return find_constant(value, self._known)


def _is_for(
    node: ir.Node, resolutions: Mapping[ir.Node, Resolution], rules: QuantizationRules
) -> bool:
    """Whether a node becomes a convolution on 8-bit activations with static ranges."""
    if node.op_type != "Conv" or node.domain != "" or "Conv" not in rules.anchors:
        return False
    mode = resolutions[node].policy.mode
    return (
        mode is not None and mode.ranges == "static" and mode.activation_dtype in ("int8", "uint8")
    )


def _changes(factor: Array) -> bool:
    return bool(np.any(factor != 1.0))


def _times(source: ir.TensorProtocol, factor: Array) -> ir.TensorProtocol:
    return ir.derived_tensor(source, lambda array: array * factor, source.dtype)
