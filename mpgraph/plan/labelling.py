"""A plan laid over the cells of a model: the dtype of every operand and result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mpgraph import ir
from mpgraph.analysis import CellGraph, TypeFlow, build_cells, infer_types, narrow
from mpgraph.errors import PlanError
from mpgraph.plan.plan import Plan

__all__ = ["Labelling", "lay_over"]


@dataclass(frozen=True)
class Labelling:
    """The dtypes of all cells of a model.

    Attributes:
        graph: The cells.
        flow: The types of the model's values before the change.
        labels: The dtype that each cell gets.
        stored: For each cell, the dtype its constants are stored in.
        scaled: Whether the model holds the powers of two that the plan asks for.
    """

    graph: CellGraph
    flow: TypeFlow
    labels: tuple[ir.DataType, ...]
    stored: tuple[ir.DataType, ...]
    scaled: bool = False

    def of(self, cells: Sequence[int | None], index: int) -> ir.DataType | None:
        """The dtype of the place at ``index``; None where it is bound to no cell."""
        cell = cells[index]
        return None if cell is None else self.labels[cell]

    def result(self, value: ir.Value) -> ir.DataType | None:
        """The dtype that a value will have; None for constants and non-floats."""
        cell = self.graph.results.get(value)
        return None if cell is None else self.labels[cell]


def lay_over(plan: Plan, model: ir.Model) -> Labelling:
    """Lay a plan over the model that it was made for.

    Raises:
        PlanError: The model is another one than was planned.
    """
    if ir.fingerprint(model) != plan.fingerprint:
        raise PlanError(
            "plan",
            "it was made for another model",
            "plan this model, or give the model from which the plan came",
        )
    flow = infer_types(model)
    graph = build_cells(model, flow, keep_io_types=plan.keep_io_types)
    by_key = {one.key: one for one in plan.assignments}
    following = {
        site.node: frozenset(by_key[site.key].variables)
        for cell in graph.cells
        for site in cell.sites
        if site.kind == "node"
        and site.node is not None
        and site.key in by_key
        and frozenset(by_key[site.key].variables) != site.variables
    }
    graph = narrow(graph, flow, following)
    labels = [cell.dtype for cell in graph.cells]
    stored = [cell.dtype for cell in graph.cells]
    for cell in graph.cells:
        for site in cell.sites:
            one = by_key.get(site.key)
            if one is not None:
                labels[cell.index] = ir.parse_dtype(one.dtype)
                stored[cell.index] = ir.parse_dtype(one.stored)
    return Labelling(graph, flow, tuple(labels), tuple(stored))
