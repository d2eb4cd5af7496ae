"""Take out of biases what quantization adds to each output channel on average."""

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
from mpgraph.quant.formats.layout import Array
from mpgraph.quant.moving import with_plan_of
from mpgraph.quant.placement.constants import Constant
from mpgraph.quant.rewriting import Writer, put_constant
from mpgraph.quant.sensitivity import Gated, gate
from mpgraph.quant.tuning import BiasPlace, find_bias_place
from mpgraph.runtime import DataSet, create_session, input_specs
from mpgraph.runtime.inputs import data_as_inputs
from passes.insert_quantizers import InsertQuantizers

__all__ = ["CorrectBiases", "CorrectedBiases"]


@dataclass(frozen=True)
class CorrectedBiases:
    """The fact that biases were corrected.

    Attributes:
        nodes: The nodes that multiply, by key.
        before: Squared error over energy of the worst output without.
        after: The same with.
    """

    nodes: tuple[str, ...]
    before: float
    after: float


@dataclass(frozen=True)
class CorrectBiases(Pass):
    """Correct the biases of nodes that compute on quantized operands with static scales.

    What rounding does to the mean of a channel is measured, for each node from the exact values of
    what it reads, and taken off its bias: the empirical bias correction of M. Nagel et al.,
    Data-Free Quantization through Weight Equalization and Bias Correction, 2019, section 4.2, for
    all nodes at once. It is kept where it lowers the error of the worst output on the data enough.
    A MatMul has its bias in the Add behind it; one without stays as it is. Without data nothing is
    done.

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

    name: ClassVar[str] = "correct-biases"
    requires: ClassVar[tuple[type, ...]] = (QuantizationPlan,)
    provides: ClassVar[tuple[type, ...]] = (CorrectedBiases,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Correct all biases, or none."""
        given, plan = facts.find(DataSet), facts.get(QuantizationPlan)
        if given is None or self.fine >= 1 or facts.find(CorrectedBiases) is not None:
            return False
        corrected = {one.planned.key: one for one in _corrected(model, plan)}
        if not corrected:
            return False
        data = data_as_inputs(given, input_specs(model))
        exact = ExactOutputs(model, data, self.trials)
        before = _quantized_error(model, facts, exact, {})
        if before < self.fine:
            return False
        errors = _mean_errors(model, facts, corrected, data, self.samples)
        biases = {key: corrected[key].place.less(error) for key, error in errors.items()}
        after = _quantized_error(model, facts, exact, biases)
        if after > before * self.gain:
            return False
        _put_biases(model, plan, biases)
        facts.put(CorrectedBiases(tuple(biases), before, after))
        return True


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
    model: ir.Model, facts: Facts, exact: ExactOutputs, biases: Mapping[str, Array]
) -> float:
    """The error of the outputs of a quantized copy with other biases."""
    copy = ir.clone(model)
    plan = with_plan_of(facts.get(QuantizationPlan), model, copy)
    _put_biases(copy, plan, biases)
    inner = facts.copy()
    inner.put(plan)
    run_pipeline(copy, load_pipeline(CARRY_OUT), inner)
    return exact.error(create_session(copy))


def _put_biases(model: ir.Model, plan: QuantizationPlan, biases: Mapping[str, Array]) -> None:
    """Let nodes read other biases."""
    writer = Writer(model, CorrectBiases.name)
    known: dict[ir.Value, Constant | None] = {}
    for key, bias in biases.items():
        place = find_bias_place(plan.places[key], known)
        if place is None:
            raise ValueError(f"{key}: it has no place for a bias")
        name = f"{plan.places[key].outputs[0].name}_bias"
        if place.constant is not None:
            name = f"{place.constant.base.name}_corrected"
        put_constant(writer, place.node, place.index, name, ir.tensor(bias))
