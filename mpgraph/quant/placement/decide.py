"""Decides, for every node that a quantizing policy selects, what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mpgraph import ir
from mpgraph.analysis import TypeFlow, element_counts
from mpgraph.policy import QuantizationMode, Resolution
from mpgraph.quant.calibration import Calibration
from mpgraph.quant.form_errors import FormErrors
from mpgraph.quant.placement.activations import plan_activation
from mpgraph.quant.placement.choice import Choice, choose
from mpgraph.quant.placement.demand import Candidate, Demand, find_candidate
from mpgraph.quant.placement.fallbacks import Fallbacks
from mpgraph.quant.placement.given import already_quantized, has_stamped_quantizers
from mpgraph.quant.placement.measured import preferred
from mpgraph.quant.placement.recurrent import plan_recurrent
from mpgraph.quant.placement.regions import Region, find_region
from mpgraph.quant.placement.weights import operand_weights, plan_weight
from mpgraph.quant.plan import QuantizationPlan
from mpgraph.quant.planned import LOSES_TIME, PlannedActivation, PlannedNode, PlannedWeight
from mpgraph.targets import QuantizationRules, Target, quantization_rules

__all__ = ["decide"]

_LEFT = "it stayed float when the model was quantized"


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
    counts = element_counts(scopes, flow, {} if calibration is None else calibration.mean_counts())
    for scope in scopes:
        planner.plan_graph(scope, counts)
    return planner.finish()


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
    gains: dict[str, int] = field(default_factory=dict)
    fallbacks: Fallbacks = field(default_factory=Fallbacks)

    def plan_graph(self, scope: ir.GraphScope, counts: Mapping[ir.Value, int]) -> None:
        """Plan one graph: its static region as a whole, everything else node by node."""
        keys = {node: key for key, node in scope.places()}
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
        recurrent = list(plan_recurrent(scope.graph, keys, self.demand))
        found = [choice.form for _, choice in chosen.values()]
        found += [planned.form for planned, _ in recurrent]
        alone = set(found) <= {"float", "static"}
        regions = {
            mode: find_region(
                scope.graph, mode, anchors, self.demand, counts, overhead, alone=alone
            )
            for mode, anchors in groups.items()
        }
        for node, (candidate, given) in chosen.items():
            choice = given
            if choice.form == "static" and node not in regions[choice.mode].anchors:
                choice = replace(choice, form="float", reason=LOSES_TIME)
            self._add_node(node, keys[node], candidate.mode, choice, counts=True)
            self.fallbacks.note(candidate.mode, choice)
            if choice.form not in ("static", "float"):
                self._add_weight(candidate, choice, keys[node])
        for planned, weights in recurrent:
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
            tuple(self.fallbacks.warnings()),
            self.places,
            self.graphs,
            self.gains,
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
            if node in region.gains:
                self.gains[keys[node]] = region.gains[node]
        for role in region.carriers:
            reason = f"{self.target.name} hands quantized numbers through {role.node.op_type}"
            choice = Choice("static", mode, reason)
            self._add_node(role.node, keys[role.node], mode, choice, counts=False)
            if role.kind == "carrier":
                self.weights.extend(operand_weights(role.node, keys[role.node], self.demand))
        for value in region.readers:
            self.activations.append(
                plan_activation(value, region, mode, scope.path, keys, self.demand)
            )
