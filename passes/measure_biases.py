"""Measure what quantization adds to each output channel on average."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types_and_shapes
from mpgraph.calibration import ExactOutputs, TwoForms, mean_errors
from mpgraph.passmgr import Facts, Pass, load_pipeline, run_pipeline
from mpgraph.passmgr.pipelines import CARRY_OUT
from mpgraph.quant import PlannedNode, QuantizationPlan
from mpgraph.quant.form_errors import BiasErrors, CorrectedBiases
from mpgraph.quant.formats.layout import Array
from mpgraph.quant.moving import with_plan_of
from mpgraph.quant.placement.constants import Constant
from mpgraph.quant.sensitivity import Gated, gate
from mpgraph.quant.tuning import BiasPlace, find_bias_place
from mpgraph.runtime import DataSet, create_session, input_specs
from mpgraph.runtime.inputs import data_as_inputs
from mpgraph.targets import Target
from passes.insert_quantizers import InsertQuantizers

__all__ = ["MeasureBiases"]


@dataclass(frozen=True)
class MeasureBiases(Pass):
    """Put ``BiasErrors`` into the facts, which correct-biases takes off; no model is changed.

    For each node that computes on quantized operands with static scales, what rounding does to the
    mean of a channel is measured from the exact values of what it reads, to be taken off its bias:
    the empirical bias correction of M. Nagel et al., Data-Free Quantization through Weight
    Equalization and Bias Correction, 2019, section 4.2, for all nodes at once. It is kept where it
    lowers the error of the worst output on the data enough. A MatMul has its bias in the Add behind
    it; one without stays as it is. Without data nothing is done.

    Attributes:
        samples: Samples to take means over at most.
        trials: Samples that the outputs are compared on at most.
        fine: Squared error over energy of the worst output below which nothing is corrected; 1
            switches the pass off.
        gain: To what part the error must fall.
    """

    samples: int = 16
    trials: int = 4
    fine: float = 1e-5
    gain: float = 0.8

    name: ClassVar[str] = "measure-biases"
    requires: ClassVar[tuple[type, ...]] = (QuantizationPlan, Target)
    provides: ClassVar[tuple[type, ...]] = (BiasErrors,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Measure all biases; put the fact where correcting them helps."""
        given, plan = facts.find(DataSet), facts.get(QuantizationPlan)
        if given is None or self.fine >= 1 or facts.find(CorrectedBiases) is not None:
            return False
        corrected = {one.planned.key: one for one in _corrected(model, plan)}
        if not corrected:
            return False
        data = data_as_inputs(given, input_specs(model))
        exact = ExactOutputs(model, data, self.trials)
        before = _quantized_error(model, facts, exact)
        if before < self.fine:
            return False
        errors = _mean_errors(model, facts, corrected, data, self.samples)
        after = _quantized_error(model, facts, exact, BiasErrors(errors, before))
        if after <= before * self.gain:
            facts.put(BiasErrors(errors, before, after))
        return False


class _Corrected(NamedTuple):
    """A node whose bias can be corrected.

    Attributes:
        planned: The node.
        place: Where its bias is.
        rank: How many axes its result has.
    """

    planned: PlannedNode
    place: BiasPlace
    rank: int


def _corrected(model: ir.Model, plan: QuantizationPlan) -> Iterator[_Corrected]:
    """The nodes of the main graph that multiply by a constant, in float32."""
    flow: TypeFlow = infer_types_and_shapes(model)
    known: dict[ir.Value, Constant | None] = {}
    for planned, node in plan.nodes_of("static"):
        if not planned.counts or node.graph is not model.graph:
            continue
        if f"{planned.key}:1" not in plan.by_reader:
            continue
        shape, dtype = flow.shape(node.outputs[0]), flow.dtype(node.outputs[0])
        place = find_bias_place(node, known)
        if place is not None and shape is not None and dtype == ir.DataType.FLOAT:
            yield _Corrected(planned, place, len(shape))


def _mean_errors(
    model: ir.Model,
    facts: Facts,
    corrected: Mapping[str, _Corrected],
    data: DataSet,
    samples: int,
) -> dict[str, Array]:
    """The mean errors of the nodes by key, each from exact operands."""
    plan = facts.get(QuantizationPlan)
    gated = gate(model, plan, [one.planned for one in corrected.values()])
    inner = facts.copy()
    inner.put(_without_results(gated))
    InsertQuantizers().run(gated.model, inner)
    forms = []
    for key, one in corrected.items():
        second = gated.plan.places[gated.moved[key]]
        (chooser,) = (use.node for use in second.outputs[0].uses())
        exact = chooser.inputs[2]
        if exact is not None:
            forms.append(TwoForms(key, exact, second.outputs[0], one.rank, one.place.axis))
    switches = {name: np.array(False) for name in gated.switches}
    return mean_errors(gated.model, forms, data, samples, switches)


def _without_results(gated: Gated) -> QuantizationPlan:
    """A plan for the second forms of nodes alone: their results are not rounded."""
    results = {gated.plan.places[key].outputs[0].name for key in gated.moved.values()}
    kept = tuple(one for one in gated.plan.activations if one.value not in results)
    return replace(gated.plan, activations=kept)


def _quantized_error(
    model: ir.Model, facts: Facts, exact: ExactOutputs, *more: BiasErrors
) -> float:
    """The error of the outputs of a quantized copy."""
    copy = ir.clone(model)
    inner = facts.copy()
    for fact in (with_plan_of(facts.get(QuantizationPlan), model, copy), *more):
        inner.put(fact)
    run_pipeline(copy, load_pipeline(CARRY_OUT), inner)
    return exact.error(create_session(copy))
