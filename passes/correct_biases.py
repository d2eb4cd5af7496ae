"""Take off biases what quantization adds to each output channel on average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.passmgr import Facts, Pass
from mpgraph.quant import QuantizationPlan
from mpgraph.quant.form_errors import BiasErrors, CorrectedBiases
from mpgraph.quant.placement.constants import Constant
from mpgraph.quant.rewriting import Writer, put_constant
from mpgraph.quant.tuning import find_bias_place

__all__ = ["CorrectBiases"]


@dataclass(frozen=True)
class CorrectBiases(Pass):
    """Correct the biases of the nodes that the plan quantizes, by ``BiasErrors`` in the facts.

    measure-biases puts them there, where the outputs gain by it.
    """

    name: ClassVar[str] = "correct-biases"
    requires: ClassVar[tuple[type, ...]] = (QuantizationPlan,)
    provides: ClassVar[tuple[type, ...]] = (CorrectedBiases,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Correct the biases of all nodes that are quantized with static scales."""
        measured, plan = facts.find(BiasErrors), facts.get(QuantizationPlan)
        if measured is None or facts.find(CorrectedBiases) is not None:
            return False
        writer = Writer(model, self.name)
        known: dict[ir.Value, Constant | None] = {}
        corrected = []
        for planned, node in plan.nodes_of("static"):
            errors = measured.channels.get(planned.key)
            place = None if errors is None else find_bias_place(node, known)
            if errors is None or place is None:
                continue
            name = f"{node.outputs[0].name}_bias"
            if place.constant is not None:
                name = f"{place.constant.base.name}_corrected"
            bias = ir.tensor(place.less(errors))
            put_constant(writer, place.node, place.index, name, bias)
            corrected.append(planned.key)
        if corrected:
            facts.put(CorrectedBiases(tuple(corrected), measured.before, measured.after))
        return bool(corrected)
