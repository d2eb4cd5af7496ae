"""Bring the channels of activations between convolutions to like ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpgraph import ir
from mpgraph.analysis import infer_types_and_shapes
from mpgraph.calibration import observe_channels
from mpgraph.passmgr import Facts, Pass
from mpgraph.policy import PolicyMap, Resolution, as_policy_map, resolve_nodes
from mpgraph.quant.affine import Multiplier
from mpgraph.quant.equalization import (
    ChannelStatistics,
    Gate,
    Group,
    Rescaler,
    Rounding,
    channel_factors,
    find_convolution,
    find_gates,
    find_groups,
)
from mpgraph.quant.form_errors import FINE
from mpgraph.quant.formats.layout import Array
from mpgraph.quant.placement.constants import Constant, find_constant
from mpgraph.quant.rewriting import Writer
from mpgraph.runtime import DataSet
from mpgraph.runtime.inputs import data_for
from mpgraph.targets import QuantizationRules, Target, get_target, quantization_rules

__all__ = ["EqualizeChannels"]


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
        feeds = data_for(model, self.data, facts.find(DataSet))
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


class _Equalizer:
    def __init__(
        self,
        model: ir.Model,
        resolutions: Mapping[ir.Node, Resolution],
        rules: QuantizationRules,
        options: EqualizeChannels,
    ) -> None:
        self._flow = infer_types_and_shapes(model)
        self._resolutions = resolutions
        self._bits = rules.weight_bits
        self._options = options
        self._known: dict[ir.Value, Constant | None] = {}
        self._gates: dict[ir.Node, Gate] = {}
        for gate in find_gates(model.graph, self._find):
            self._gates |= {gate.add: gate, gate.product: gate}
        self.multipliers: dict[ir.Node, Multiplier] = {}
        for node in model.graph:
            if _is_for(node, resolutions, rules):
                found = find_convolution(node, self._flow, self._find)
                if found is not None:
                    self.multipliers[node] = found
        writer = Writer(model, EqualizeChannels.name)
        self._rescaler = Rescaler(model.graph, self.multipliers, self._flow, self._find, writer)

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
            self._rescaler.rescale(group, factors)
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
