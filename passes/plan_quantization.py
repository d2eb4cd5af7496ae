"""Decide what is quantized, in which form, with which scales."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.analysis import infer_types_and_shapes
from mpgraph.passmgr import Facts, Pass
from mpgraph.policy import PolicyMap, as_policy_map, resolve_nodes
from mpgraph.quant import QuantizationPlan
from mpgraph.quant.calibration import Calibration
from mpgraph.quant.form_errors import HarmfulParts, QuantizationErrors
from mpgraph.quant.placement import decide
from mpgraph.quant.sensitivity import KeptFloat
from mpgraph.targets import Target, get_target

__all__ = ["PlanQuantization"]


@dataclass(frozen=True)
class PlanQuantization(Pass):
    """Put a ``QuantizationPlan`` into the facts; the model is not changed.

    It comes behind the passes that give nodes their float dtypes, and speaks of the model as they
    leave it. Without a ``Calibration`` in the facts, static modes fall back on dynamic ones. Nodes
    that a ``KeptFloat`` in the facts names stay in float.

    Attributes:
        policy: A policy name; empty takes the ``PolicyMap`` that the facts hold.
        target: A target name; empty takes the ``Target`` that the facts hold.
        force: Whether to quantize also where the target can only lose time by it.
    """

    policy: str = ""
    target: str = ""
    force: bool = False

    name: ClassVar[str] = "plan-quantization"
    provides: ClassVar[tuple[type, ...]] = (QuantizationPlan,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Plan all graphs of the model."""
        policy = as_policy_map(self.policy) if self.policy else facts.get(PolicyMap)
        target = get_target(self.target) if self.target else facts.get(Target)
        flow = infer_types_and_shapes(model)
        measured, harmful = facts.find(QuantizationErrors), facts.find(HarmfulParts)
        kept = facts.find(KeptFloat)
        facts.put(
            decide(
                model,
                flow,
                resolve_nodes(model, policy),
                target,
                facts.find(Calibration),
                force=self.force,
                errors=None if measured is None else measured.products,
                harmful=None if harmful is None else harmful.errors,
                kept=None if kept is None else kept.nodes,
            )
        )
        return False
