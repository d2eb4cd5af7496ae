"""Keep in float what the outputs of a model do not bear to be quantized."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, TypeVar

from mpgraph import ir
from mpgraph.calibration import ExactOutputs, RoundingTrial
from mpgraph.passmgr import Facts, Pass
from mpgraph.quant import PlannedActivation, PlannedWeight, QuantizationPlan
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

_Planned = TypeVar("_Planned", PlannedActivation, PlannedWeight)
_ROUNDINGS = 8

_Errors = dict[tuple[PlannedActivation, ...] | tuple[PlannedWeight, ...], float]


@dataclass(frozen=True)
class ProtectOutputs(Pass):
    """Measure, on data, what quantization does to the outputs, and plan again without the worst.

    Where all activations with static scales together cost the worst output more than twice the
    ``limit`` of its energy, each is rounded alone, and those that cost most for the time that they
    gain are kept out of the plan until the limit is met: nodes that must read or write them stay
    float, unless a rule or ``force`` asks for them. The weights of these nodes are tried likewise,
    and each recurrent node by itself. A float8 dtype, which leaves more of any model, has limits of
    its own. What takes its range when the model runs is not part of it. Without data nothing is
    done.

    Attributes:
        policy: A policy name; empty takes the ``PolicyMap`` that the facts hold.
        target: A target name; empty takes the ``Target`` that the facts hold.
        force: As of plan-quantization.
        limit: Squared error over energy: 3e-4 is a ratio of signal to noise of 35 dB.
        weights_limit: Likewise, of weights; some of their error is taken out of biases later.
        samples: Samples to run at most.
        parts: How many activations, and weights, are tried alone at most; where there are more,
            neighbours are tried together.
        rounds: How often is planned again: what is quantized instead may be harmful too.
    """

    policy: str = ""
    target: str = ""
    force: bool = False
    limit: float = 3e-4
    weights_limit: float = 8e-4
    samples: int = 4
    parts: int = 64
    rounds: int = 5

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
        alone: _Errors = {}
        for _ in range(self.rounds):
            plan = facts.get(QuantizationPlan)
            found |= self._activations(model, plan, exact, alone)
            if found.keys() <= harmful.keys():
                found |= self._weights(model, plan, exact, alone)
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
        self, model: ir.Model, plan: QuantizationPlan, exact: ExactOutputs, alone: _Errors
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
        measured = RoundingTrial(model, parts, [], exact).activations_error
        values = {
            (path, value.name): value
            for path, graph in plan.graphs.items()
            for value in ir.defined_values(graph)
        }
        keys = {node: key for key, node in plan.places.items()}

        def users(planned: PlannedActivation) -> set[str]:
            value = values[planned.graph, planned.value]
            writer = before_clip(value).producer()
            found = {place_of(text).key for text in planned.readers}
            return found if writer is None else {*found, keys.get(writer, "")}

        gains = [
            sum(plan.gains.get(key, 0) for one in part for key in users(one)) for part in parts
        ]
        limit = max(self.limit, _unavoidable(one.dtype for one in plan.activations))
        spared = _Trial(measured, parts, limit, alone).spared(gains)
        return {
            values[one.graph, one.value]: error
            for part, error in spared.items()
            for one in parts[part]
        }

    def _weights(
        self, model: ir.Model, plan: QuantizationPlan, exact: ExactOutputs, alone: _Errors
    ) -> dict[ir.Value | ir.Node, float]:
        """The nodes of a plan whose weights cost too much; arguments as of ``_activations``."""
        weights = _static_weights(plan)
        if not weights:
            return {}
        parts = list(_runs(weights, self.parts))
        measured = RoundingTrial(model, [], parts, exact).weights_error
        readers = [[place_of(one.reader).key for one in part] for part in parts]
        gains = [sum(plan.gains.get(key, 0) for key in part) for part in readers]
        limit = max(self.weights_limit, _unavoidable(one.dtype for one in weights))
        spared = _Trial(measured, parts, limit, alone).spared(gains)
        return {plan.places[key]: error for part, error in spared.items() for key in readers[part]}


def _unavoidable(dtypes: Iterable[str]) -> float:
    """What outputs must bear of floats of few bits: some roundings in a row.

    One to a float of precision epsilon leaves (epsilon^2 / 24) of the energy: an error that is
    uniform over a step, of numbers that are uniform between two powers of two, nearly.
    """
    floats = [one for one in map(ir.parse_dtype, set(dtypes)) if one.is_floating_point()]
    return max((_ROUNDINGS * ir.limits(one).epsilon ** 2 / 24 for one in floats), default=0.0)


def _static_weights(plan: QuantizationPlan) -> tuple[PlannedWeight, ...]:
    """The weights of the nodes that multiply activations with static scales."""
    found = []
    for weight in plan.weights:
        node = plan.by_key.get(place_of(weight.reader).key)
        if node is not None and node.counts and node.form == "static":
            found.append(weight)
    return tuple(found)


def _runs(planned: tuple[_Planned, ...], count: int) -> Iterator[tuple[_Planned, ...]]:
    """At most so many runs of about the same length."""
    length = max(-(-len(planned) // count), 1)
    for start in range(0, len(planned), length):
        yield planned[start : start + length]


@dataclass(frozen=True)
class _Trial(Generic[_Planned]):
    """Parts that are rounded or not.

    Attributes:
        measured: The error when some parts are rounded.
        parts: The parts by their numbers.
        limit: What the error may be.
        alone: What is known of each part alone, to which what is measured is added.
    """

    measured: Callable[[Collection[int]], float]
    parts: Sequence[tuple[_Planned, ...]]
    limit: float
    alone: _Errors

    def spared(self, gains: Sequence[float]) -> Mapping[int, float]:
        """The parts that stay in float, with their errors, by what rounding each is worth."""
        numbers = range(len(self.parts))
        tolerated = 2 * self.limit
        return spared_parts(self._error, numbers, self.limit, tolerated=tolerated, gains=gains)

    def _error(self, rounded: Collection[int]) -> float:
        if len(rounded) != 1:
            return self.measured(rounded)
        (number,) = rounded
        part = self.parts[number]
        if part not in self.alone:
            self.alone[part] = self.measured(rounded)
        return self.alone[part]
