"""Decides, for every node that a quantizing policy selects, what becomes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from mpgraph import ir
from mpgraph.analysis import TypeFlow, element_counts
from mpgraph.policy import QuantizationMode, Resolution
from mpgraph.quant.calibration import Calibration
from mpgraph.quant.form_errors import FormErrors
from mpgraph.quant.formats import Layout, parameters_from_range
from mpgraph.quant.placement.choice import Choice, choose
from mpgraph.quant.placement.demand import Candidate, Demand, find_candidate
from mpgraph.quant.placement.given import already_quantized, has_stamped_quantizers
from mpgraph.quant.placement.measured import preferred
from mpgraph.quant.placement.recurrent import plan_recurrent
from mpgraph.quant.placement.regions import Region, find_region
from mpgraph.quant.placement.useful import useful_range
from mpgraph.quant.placement.weights import activation_format, operand_weights, plan_weight
from mpgraph.quant.plan import (
    PlannedActivation,
    PlannedNode,
    PlannedWeight,
    QuantizationPlan,
)
from mpgraph.targets import QuantizationRules, Target, quantization_rules

__all__ = ["decide"]

_LEFT = "it stayed float when the model was quantized"
_NOT_WORTH = "the conversions around it would take longer than it saves"


def decide(
    model: ir.Model,
    flow: TypeFlow,
    resolutions: Mapping[ir.Node, Resolution],
    target: Target,
    calibration: Calibration | None,
    *,
    force: bool = False,
    errors: Mapping[ir.Node, FormErrors] | None = None,
    harmful: Mapping[ir.Value | ir.Node, float] | None = None,
    rules: QuantizationRules | None = None,
    kept: Mapping[ir.Node, str] | None = None,
) -> QuantizationPlan:
    """Plan the quantization of a model, which is not changed.

    Args:
        model: The model, with the float dtypes that it will have.
        flow: The types and shapes of its values.
        resolutions: The policy of every node.
        target: Where it shall run.
        calibration: Ranges of its values; None without data.
        force: Whether quantization that only loses time on the target is carried out too.
        errors: What each form does to the result of a node, where that was measured.
        harmful: What the outputs do not bear to be quantized, as in ``HarmfulParts``.
        rules: What the target fuses, where that is not to be asked from it.
        kept: Nodes that stay in float whatever their policy says, with the reason.
    """
    opset = ir.opset_of("", model.opset_imports)
    chosen = rules or quantization_rules(target)
    demand = Demand(
        flow, resolutions, chosen, target.name, calibration, opset, force, harmful or {}, kept or {}
    )
    planner = _Planner(demand, target, errors or {}, has_stamped_quantizers(model))
    scopes = tuple(ir.graphs(model))
    counts = element_counts(scopes, flow, _measured_counts(calibration))
    for scope in scopes:
        planner.plan_graph(scope, counts)
    return planner.finish()


def _measured_counts(calibration: Calibration | None) -> dict[str, int]:
    """How many elements the values had in a sample, the mean over the data."""
    if calibration is None or not calibration.samples:
        return {}
    samples = calibration.samples
    counts = {name: one.count // samples for name, one in calibration.accumulators.items()}
    same = {name: counts[one] for name, one in calibration.aliases.items() if one in counts}
    return {name: count for name, count in (counts | same).items() if count}


class _Lacking(NamedTuple):
    """Why a mode could not be carried out, and what is done instead."""

    cause: str
    mode: str
    instead: QuantizationMode


@dataclass
class _Planner:
    demand: Demand
    target: Target
    errors: Mapping[ir.Node, FormErrors]
    done_before: bool = False
    nodes: list[PlannedNode] = field(default_factory=list)
    activations: list[PlannedActivation] = field(default_factory=list)
    weights: list[PlannedWeight] = field(default_factory=list)
    places: dict[str, ir.Node] = field(default_factory=dict)
    graphs: dict[str, ir.Graph] = field(default_factory=dict)
    lacking: dict[_Lacking, list[bool]] = field(default_factory=dict)

    def plan_graph(self, scope: ir.GraphScope, counts: Mapping[ir.Value, int]) -> None:
        """Plan one graph: its static region as a whole, everything else node by node."""
        keys = {node: f"{scope.path}#{index}" for index, node in enumerate(scope.graph)}
        self.places.update((key, node) for node, key in keys.items())
        self.graphs[scope.path] = scope.graph
        chosen: dict[ir.Node, tuple[Candidate, Choice]] = {}
        for node in scope.graph:
            if self._add_given(node, keys[node]):
                continue
            candidate = find_candidate(node, self.demand)
            if candidate is not None:
                chosen[node] = candidate, self._choose(candidate)
        groups: dict[QuantizationMode, dict[ir.Node, Candidate]] = {}
        for node, (candidate, choice) in chosen.items():
            if choice.form == "static":
                groups.setdefault(choice.mode, {})[node] = candidate
        overhead = self.target.kernel_overhead_bytes
        regions = {
            mode: find_region(scope.graph, mode, anchors, self.demand, counts, overhead)
            for mode, anchors in groups.items()
        }
        for node, (candidate, given) in chosen.items():
            choice = given
            if choice.form == "static" and node not in regions[choice.mode].anchors:
                choice = replace(choice, form="float", reason=_NOT_WORTH)
            self._add_node(node, keys[node], candidate.mode, choice, counts=True)
            self._note_fallback(candidate.mode, choice)
            if choice.form not in ("static", "float"):
                self._add_weight(candidate, choice, keys[node])
        for planned, weights in plan_recurrent(scope.graph, keys, self.demand):
            self.nodes.append(planned)
            self.weights.extend(weights)
        for mode, region in regions.items():
            self._add_static(scope, keys, mode, groups[mode], region)

    def finish(self) -> QuantizationPlan:
        """The plan."""
        return QuantizationPlan(
            tuple(self.nodes),
            tuple(self.activations),
            tuple(self.weights),
            tuple(self._warnings()),
            self.places,
            self.graphs,
        )

    def _choose(self, candidate: Candidate) -> Choice:
        if self.done_before and not self.demand.resolutions[candidate.node].explicit:
            return Choice("float", candidate.mode, _LEFT)
        choice = choose(candidate, self.demand)
        return preferred(candidate, choice, self.demand, self.errors)

    def _add_given(self, node: ir.Node, key: str) -> bool:
        """Note a node that the model quantizes already; tell whether it is one."""
        mode = self.demand.mode(node)
        reason = "" if mode is None else already_quantized(node)
        if mode is None or not reason:
            return False
        self._add_node(node, key, mode, Choice("given", mode, reason), counts=True)
        return True

    def _note_fallback(self, mode: QuantizationMode, choice: Choice) -> None:
        if choice.lacking:
            taken = _Lacking(choice.lacking, mode.name, choice.mode)
            self.lacking.setdefault(taken, []).append(choice.form != "float")

    def _warnings(self) -> Iterable[str]:
        for taken, quantized in self.lacking.items():
            done, total = sum(quantized), len(quantized)
            nodes = f"{total} node" if total == 1 else f"{done} of {total} nodes"
            instead = f"{taken.instead.name} takes the place of {taken.mode}"
            if not done:
                yield f"{taken.cause}, so {instead}, and quantizes no node"
            elif taken.instead.ranges == "dynamic":
                yield f"{taken.cause}, so {instead}: {nodes} with ranges found when it runs"
            else:
                yield f"{taken.cause}, so {instead}: the weights alone of {nodes}"

    def _add_node(
        self, node: ir.Node, key: str, mode: QuantizationMode, choice: Choice, *, counts: bool
    ) -> None:
        self.nodes.append(
            PlannedNode(
                key,
                node.name or "",
                node.op_type,
                ir.module_scope(node),
                mode.name,
                choice.form,
                counts,
                choice.reason,
                choice.mode.name if choice.lacking else "",
            )
        )

    def _add_weight(self, candidate: Candidate, choice: Choice, key: str) -> None:
        if candidate.weight is not None:
            reader = f"{key}:{candidate.operands.weight}"
            self.weights.append(plan_weight(candidate, choice.mode, reader, self.demand.rules))

    def _add_static(
        self,
        scope: ir.GraphScope,
        keys: Mapping[ir.Node, str],
        mode: QuantizationMode,
        anchors: Mapping[ir.Node, Candidate],
        region: Region,
    ) -> None:
        for node, candidate in anchors.items():
            if node not in region.anchors:
                continue
            self._add_weight(candidate, Choice("static", candidate.mode, ""), keys[node])
        for role in region.carriers:
            reason = f"{self.target.name} hands quantized numbers through {role.node.op_type}"
            choice = Choice("static", mode, reason)
            self._add_node(role.node, keys[role.node], mode, choice, counts=False)
            if role.kind == "carrier":
                self.weights.extend(operand_weights(role.node, keys[role.node], self.demand))
        for value in region.readers:
            planned = self._activation(scope, keys, value, region, mode)
            self.activations.append(planned)

    def _observed(self, value: ir.Value, region: Region) -> ir.Value:
        """The value whose range gives the scale: what is moved has the scale of its source."""
        source: ir.Value | None = value
        while source in region.sources:
            source = region.sources[source]
        while source is not None and not self.demand.has_range(source):
            producer = source.producer()
            source = None if producer is None else producer.inputs[0]
        if source is None:
            raise ValueError(f"{value.name}: its range is not known")
        return source

    def _activation(
        self,
        scope: ir.GraphScope,
        keys: Mapping[ir.Node, str],
        value: ir.Value,
        region: Region,
        mode: QuantizationMode,
    ) -> PlannedActivation:
        source = self._observed(value, region)
        format = activation_format(mode, self.demand.rules)
        calibration = self.demand.calibration
        if calibration is None:
            raise ValueError(f"{value.name}: its range is not known")
        levels = int(format.highest - format.lowest) + 1 if not format.is_float else 256
        found = calibration.range(source.name or "", levels, format.symmetric)
        found = useful_range(source, found, self.demand)
        parameters = parameters_from_range(found.low, found.high, format, Layout())
        readers = [f"{keys[node]}:{index}" for node, index in region.readers[value]]
        readers += [f"{scope.path}:{index}" for index in region.outputs.get(value, ())]
        return PlannedActivation(
            scope.path,
            value.name or "",
            format.dtype,
            float(parameters.scale),
            int(parameters.zero_point),
            tuple(readers),
        )
