"""What the search asks of the passes: plans and models with some nodes quantized."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from mpgraph import ir
from mpgraph.quant import QuantizationPlan

__all__ = ["Builder"]


class Builder(Protocol):
    """Plans the quantization of one model, and carries plans out."""

    def plan(self, kept: Mapping[ir.Node, str]) -> QuantizationPlan:
        """The plan with some nodes kept in float, for the given reasons."""

    def build(self, plan: QuantizationPlan) -> ir.Model:
        """A copy of the model, quantized by a plan for the model."""

    def carry_out(self, model: ir.Model, plan: QuantizationPlan, moved: Mapping[str, str]) -> None:
        """Quantize another model, which is changed, by a plan for it.

        Args:
            model: The model.
            plan: The plan.
            moved: For nodes of the first plan by key, their keys in this one.
        """
