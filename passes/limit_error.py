"""Leave in float the nodes whose quantization shows too much in the outputs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from mpgraph import ir
from mpgraph.errors import DataError
from mpgraph.limiting import find_kept
from mpgraph.limiting.settings import Settings
from mpgraph.passmgr import Facts, Pass, load_pipeline, run_pipeline
from mpgraph.passmgr.pipelines import CARRY_OUT
from mpgraph.quant import QuantizationPlan
from mpgraph.quant.form_errors import BiasErrors
from mpgraph.quant.moving import with_plan_of
from mpgraph.quant.places import place_of
from mpgraph.quant.sensitivity import KeptFloat, SearchProgress, Sensitivity
from mpgraph.runtime import DataSet, input_specs
from mpgraph.runtime.inputs import data_as_inputs
from mpgraph.runtime.output_errors import OutputErrors
from mpgraph.targets import Target
from passes.optimize_weights import RoundedWeights
from passes.plan_quantization import PlanQuantization

__all__ = ["LimitError"]


@dataclass(frozen=True)
class LimitError(Pass):
    """Narrow the quantization plan until the outputs on the data are off by no more than a limit.

    Each node that the plan quantizes is put into one model in both forms, with a switch. One
    session of it measures what each node does to the outputs by itself, and any set of them
    together. The nodes that harm most for the time they gain, by the times of kernels in profiles
    of both models, are kept in float until the limit holds; what turns out not to matter is
    quantized after all. The choice is verified on models that are really built, on all data, and
    timed against the float model: nodes that gain least are kept too where the model gains by that,
    and all of them where it gains nothing. The result is in the facts as ``Sensitivity``.

    Attributes:
        max_error: Largest error allowed, over the range of an output; infinity skips the pass.
        samples: On how many feeds sets of nodes are tried.
        seconds: How long the quantized and the float model are timed; 0 leaves times out.
        force: Whether a model that loses time is accepted, and what only loses time is quantized.
    """

    max_error: float = math.inf
    samples: int = 4
    seconds: float = 2.0
    force: bool = False

    name: ClassVar[str] = "limit-error"
    requires: ClassVar[tuple[type, ...]] = (QuantizationPlan, Target)
    provides: ClassVar[tuple[type, ...]] = (QuantizationPlan, Sensitivity)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Search for the nodes to keep, and plan anew without them."""
        plan = facts.get(QuantizationPlan)
        if math.isinf(self.max_error) or not plan.chosen:
            return False
        given = facts.find(DataSet)
        if given is None:
            rule = "errors are measured on data, and none was given"
            raise DataError("max-error", rule, "give inputs of the model with --data")
        target = facts.get(Target).name
        data = data_as_inputs(given, input_specs(model))
        builder = _Builder(model, facts, self.force)
        found, planned = find_kept(
            model,
            plan,
            data,
            facts.find(OutputErrors) or OutputErrors(model, data, target),
            builder,
            Settings(self.max_error, self.samples, self.seconds, self.force, target),
            (facts.find(SearchProgress) or SearchProgress()).report,
        )
        if found.kept:
            facts.put(planned)
            moved = builder.moved_to(planned)
            facts.put(builder.rounded(moved))
            facts.put(builder.biases(moved))
        facts.put(found)
        return False


class _Builder:
    """Plans and quantizes copies of a model with the passes of the pipeline."""

    def __init__(self, model: ir.Model, facts: Facts, force: bool) -> None:
        self._model = model
        self._facts = facts
        self._plan = facts.get(QuantizationPlan)
        self._force = force

    def plan(self, kept: Mapping[ir.Node, str]) -> QuantizationPlan:
        """The plan with some nodes kept in float."""
        facts = self._facts.copy()
        facts.put(KeptFloat(kept))
        PlanQuantization(force=self._force).run(self._model, facts)
        return facts.get(QuantizationPlan)

    def build(self, plan: QuantizationPlan) -> ir.Model:
        """A quantized copy of the model."""
        copy = ir.clone(self._model)
        self.carry_out(copy, with_plan_of(plan, self._model, copy), self.moved_to(plan))
        return copy

    def carry_out(self, model: ir.Model, plan: QuantizationPlan, moved: Mapping[str, str]) -> None:
        """Quantize a model by a plan for it."""
        facts = self._facts.copy()
        facts.put(plan)
        facts.put(self.rounded(moved))
        facts.put(self.biases(moved))
        run_pipeline(model, load_pipeline(CARRY_OUT), facts)

    def moved_to(self, plan: QuantizationPlan) -> Mapping[str, str]:
        """The keys that the nodes of the first plan have in another one for the same model."""
        keys = {node: key for key, node in plan.places.items()}
        return {key: keys[node] for key, node in self._plan.places.items() if node in keys}

    def rounded(self, moved: Mapping[str, str]) -> RoundedWeights:
        """The rounded weights by their operands in another plan."""
        found = (self._facts.find(RoundedWeights) or RoundedWeights()).by_reader
        operands = {reader: place_of(reader) for reader in found}
        return RoundedWeights(
            {
                f"{moved[key]}:{index}": found[reader]
                for reader, (key, index) in operands.items()
                if key in moved
            }
        )

    def biases(self, moved: Mapping[str, str]) -> BiasErrors:
        """What rounding adds to means by the nodes in another plan."""
        found = self._facts.find(BiasErrors) or BiasErrors({})
        channels = {moved[key]: one for key, one in found.channels.items() if key in moved}
        return replace(found, channels=channels)
