"""Measure what each form of quantization would do to each product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.passmgr import Facts, Pass
from mpgraph.policy import PolicyMap, as_policy_map, resolve_nodes
from mpgraph.quant.form_errors import QuantizationErrors
from mpgraph.quant.tuning import ActivationRows, find_products, form_errors
from mpgraph.targets import Target, get_target, quantization_rules

__all__ = ["MeasureQuantization"]


@dataclass(frozen=True)
class MeasureQuantization(Pass):
    """Put ``QuantizationErrors`` into the facts, from which the plan chooses forms.

    Each MatMul and Gemm of which ``ActivationRows`` holds the activation is computed with one range
    for all data, one for each sample and one for each row. Without rows nothing is done.

    Attributes:
        policy: A policy name; empty takes the ``PolicyMap`` that the facts hold.
        target: A target name; empty takes the ``Target`` that the facts hold.
    """

    policy: str = ""
    target: str = ""

    name: ClassVar[str] = "measure-quantization"
    provides: ClassVar[tuple[type, ...]] = (QuantizationErrors,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Measure all products; the model is not changed."""
        known = facts.find(ActivationRows)
        if known is None:
            return False
        policy = as_policy_map(self.policy) if self.policy else facts.get(PolicyMap)
        target = get_target(self.target) if self.target else facts.get(Target)
        rules = quantization_rules(target)
        products = find_products(
            model.graph, infer_types(model), resolve_nodes(model, policy), rules
        )
        errors = {}
        for product in products:
            rows = known.values.get(product.activation.name or "")
            if rows is not None:
                errors[product.node] = form_errors(rows, product.matrix(), rules.weight_bits)
        facts.put(QuantizationErrors(errors))
        return False
