"""Keep in float what the outputs of a model do not bear to be quantized."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from mpgraph import ir
from mpgraph.calibration import ExactOutputs, RoundingTrial
from mpgraph.passmgr import Facts, Pass
from mpgraph.quant import PlannedActivation, QuantizationPlan
from mpgraph.quant.form_errors import HarmfulParts
from mpgraph.quant.moving import with_plan_of
from mpgraph.quant.placement.clipped import before_clip
from mpgraph.quant.places import place_of
from mpgraph.quant.tuning import spared_parts
from mpgraph.runtime import DataSet, create_session, input_specs
from mpgraph.runtime.inputs import data_as_inputs
from passes.plan_quantization import PlanQuantization
from passes.quantize_recurrent import QuantizeRecurrent

__all__ = ["ProtectOutputs"]

Part = Sequence[PlannedActivation]


@dataclass(frozen=True)
class ProtectOutputs(Pass):
    """Measure, on data, what quantization does to the outputs, and plan again without the worst.

    Where all activations with static scales, and the weights of the nodes that read them, together
    cost the worst output more than twice the ``limit`` of its energy, each is rounded alone, and
    those that cost most are kept out of the plan until the limit is met: nodes that must read or
    write them stay float, unless an explicit rule asks for them. So does a recurrent node that
    costs more than that by itself. What takes its range when the model runs is not part of it.
    Without data nothing is done.

    Attributes:
        policy: A policy name; empty takes the ``PolicyMap`` that the facts hold.
        target: A target name; empty takes the ``Target`` that the facts hold.
        force: As of plan-quantization.
        limit: Squared error over energy: 8e-4 is a ratio of signal to noise of 31 dB.
        samples: Samples to run at most.
        parts: How many activations are tried alone at most; where there are more, neighbours are
            tried together.
        rounds: How often is planned again: what is quantized instead may be harmful too.
    """

    policy: str = ""
    target: str = ""
    force: bool = False
    limit: float = 8e-4
    samples: int = 4
    parts: int = 64
    rounds: int = 3

    name: ClassVar[str] = "protect-outputs"
    requires: ClassVar[tuple[type, ...]] = (QuantizationPlan,)
    provides: ClassVar[tuple[type, ...]] = (QuantizationPlan, HarmfulParts)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Narrow the plan; the model is not changed."""
        given, plan = facts.find(DataSet), facts.get(QuantizationPlan)
        if given is None or not (plan.activations or plan.forms["recurrent"]):
            return False
        exact = ExactOutputs(model, data_as_inputs(given, input_specs(model)), self.samples)
        known = facts.find(HarmfulParts)
        harmful = {} if known is None else dict(known.errors)
        found = self._recurrent(model, plan, exact)
        alone: dict[Part, float] = {}
        for _ in range(self.rounds):
            found = {**found, **self._activations(model, facts.get(QuantizationPlan), exact, alone)}
            if found.keys() <= harmful.keys():
                break
            harmful = {**harmful, **found}
            facts.put(HarmfulParts(harmful))
            PlanQuantization(self.policy, self.target, self.force).run(model, facts)
        return False

    def _recurrent(
        self, model: ir.Model, plan: QuantizationPlan, exact: ExactOutputs
    ) -> dict[ir.Value | ir.Node, float]:
        """The recurrent nodes that cost too much."""
        errors: dict[ir.Value | ir.Node, float] = {}
        for planned, node in plan.nodes_of("recurrent"):
            copy = ir.clone(model)
            one = replace(with_plan_of(plan, model, copy), nodes=(planned,))
            QuantizeRecurrent().run(copy, Facts(one))
            error = exact.error(create_session(copy))
            if error > 2 * self.limit:
                errors[node] = error
        return errors

    def _activations(
        self,
        model: ir.Model,
        plan: QuantizationPlan,
        exact: ExactOutputs,
        alone: dict[Part, float],
    ) -> dict[ir.Value | ir.Node, float]:
        """The activations of a plan that cost too much.

        Args:
            model: The model.
            plan: The plan.
            exact: The outputs of the model.
            alone: Errors of parts of earlier plans, to which those of this one are added.
        """
        if not plan.activations:
            return {}
        parts = list(_runs(plan.activations, self.parts))
        trial = RoundingTrial(model, parts, exact, plan.weights)

        def error(rounded: Collection[int]) -> float:
            if len(rounded) != 1:
                return trial.error(rounded)
            (part,) = rounded
            if parts[part] not in alone:
                alone[parts[part]] = trial.error(rounded)
            return alone[parts[part]]

        named = {
            path: {value.name: value for value in ir.defined_values(graph)}
            for path, graph in plan.graphs.items()
        }
        gains = _gains(parts, plan, named) if plan.gains else None
        spared = spared_parts(error, len(parts), self.limit, tolerated=2 * self.limit, gains=gains)
        return {
            named[planned.graph][planned.value]: error
            for part, error in spared.items()
            for planned in parts[part]
        }


def _gains(
    parts: Sequence[Part],
    plan: QuantizationPlan,
    named: Mapping[str, Mapping[str | None, ir.Value]],
) -> list[float]:
    """The time that the nodes save which read or write the activations of each part."""
    keys = {node: key for key, node in plan.places.items()}

    def users(planned: PlannedActivation) -> set[str]:
        writer = before_clip(named[planned.graph][planned.value]).producer()
        found = {place_of(text).key for text in planned.readers}
        return found if writer is None else {*found, keys.get(writer, "")}

    return [
        float(sum(plan.gains.get(key, 0) for planned in part for key in users(planned)))
        for part in parts
    ]


def _runs(activations: Part, count: int) -> Iterator[Part]:
    """At most so many runs of about the same length."""
    length = max(-(-len(activations) // count), 1)
    for start in range(0, len(activations), length):
        yield activations[start : start + length]
