"""Choose powers of two for values that float16 cannot hold."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.analysis import Cell
from mpgraph.analysis.hazards import BEYOND_SCALING, Evidence, find_hazards
from mpgraph.analysis.scaling import decide_scaling
from mpgraph.passmgr import Facts, Pass
from mpgraph.plan import Draft
from mpgraph.runtime import Measurements

__all__ = ["PlanScaling"]

_LOW = ir.DataType.FLOAT16


@dataclass(frozen=True)
class PlanScaling(Pass):
    """Scale measured float16 values by powers of two where they would overflow.

    Only where the policy asks for range scaling, and only around nodes that the policy gives
    float16: what is free to stay in float32 is not worth it.
    """

    name: ClassVar[str] = "plan-scaling"
    requires: ClassVar[tuple[type, ...]] = (Draft,)
    provides: ClassVar[tuple[type, ...]] = (Draft,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Put the exponents into the draft; the model is not changed."""
        draft = facts.get(Draft)
        if not draft.policy.range_scaling:
            return False
        measured = facts.find(Measurements)
        if measured is None:
            warning = "range scaling needs data to measure ranges on: nothing is scaled"
            if warning not in draft.warnings:
                draft.warnings.append(warning)
            return False
        wide = _wide_cells(draft, measured)
        scaling = decide_scaling(
            draft.graph, measured.values, lambda node: _may_be_low(draft, wide, node)
        )
        draft.scaling = scaling.kept_where(
            lambda node: _is_low(draft, wide, node), "nothing near it gains from float16"
        )
        return False


def _wide_cells(draft: Draft, measured: Measurements) -> set[int]:
    """Cells that numerics will keep wide for another reason than a value that is too large."""
    evidence = Evidence(draft.graph, draft.flow, _LOW, measured.values)
    return {
        cell
        for hazard in find_hazards(evidence, BEYOND_SCALING)
        for cell in hazard.cells
        if not draft.choices[cell].explicit
    }


def _may_be_low(draft: Draft, wide: Collection[int], node: ir.Node) -> bool:
    return not _is_factor(node) and any(
        cell.dtype == ir.DataType.FLOAT
        and cell.index not in wide
        and _LOW in draft.choices[cell.index].allowed
        for cell in _cells(draft, node)
    )


def _is_low(draft: Draft, wide: Collection[int], node: ir.Node) -> bool:
    return any(
        draft.choices[cell.index].pinned == _LOW and cell.index not in wide
        for cell in _cells(draft, node)
    )


def _cells(draft: Draft, node: ir.Node) -> list[Cell]:
    found = (draft.graph.cell_of(value) for value in node.outputs)
    return [cell for cell in found if cell is not None and not cell.fixed]


def _is_factor(node: ir.Node) -> bool:
    """Whether an earlier conversion put the node there to scale or unscale."""
    origin = ir.origin(node)
    return origin is not None and origin[0] == "scale-ranges"
