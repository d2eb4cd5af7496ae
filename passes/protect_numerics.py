"""Keep wide what would lose its meaning in a low dtype, by evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.analysis import Hazard
from mpgraph.analysis.hazards import Evidence, Statistics, find_hazards
from mpgraph.analysis.scaling import NO_SCALING
from mpgraph.passmgr import Facts, Pass
from mpgraph.plan import Draft, Reason
from mpgraph.runtime import Measurements

__all__ = ["ProtectNumerics"]


@dataclass(frozen=True)
class ProtectNumerics(Pass):
    """Take low dtypes away from cells that a hazard speaks of.

    Static evidence comes from the graph and its constants, measured evidence from ``Measurements``
    in the facts. A cell that an explicit rule selected keeps its dtype; the report then warns.
    """

    name: ClassVar[str] = "protect-numerics"
    requires: ClassVar[tuple[type, ...]] = (Draft,)
    provides: ClassVar[tuple[type, ...]] = (Draft,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Find the hazards of every low dtype in the draft and narrow the choices."""
        draft = facts.get(Draft)
        measurements = facts.find(Measurements)
        measured: Mapping[str, Statistics] = {} if measurements is None else measurements.values
        for dtype in sorted(draft.lows - {ir.DataType.FLOAT, ir.DataType.DOUBLE}):
            scaling = draft.scaling if dtype == ir.DataType.FLOAT16 else NO_SCALING
            evidence = Evidence(draft.graph, draft.flow, dtype, measured, scaling=scaling)
            for hazard in find_hazards(evidence):
                draft.hazards.append(hazard)
                _apply(draft, hazard)
        return False


def _apply(draft: Draft, hazard: Hazard) -> None:
    reason = Reason("numerics", f"{hazard.finding}: {hazard.evidence}", hazard.kind)
    for index in hazard.cells:
        cell, choice = draft.graph.cells[index], draft.choices[index]
        if cell.fixed or hazard.dtype not in choice.allowed or cell.dtype == hazard.dtype:
            continue
        if choice.explicit:
            warning = f"{cell.key}: the rule {choice.reason.rule} wins over: {reason.text}"
            if warning not in draft.warnings:
                draft.warnings.append(warning)
            continue
        draft.choices[index] = choice.without([hazard.dtype], cell.dtype, reason)
