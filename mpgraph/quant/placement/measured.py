"""Where measured errors speak for another way of taking the ranges of an activation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mpgraph import ir
from mpgraph.quant.form_errors import FINE, WORTH_ROWS, FormErrors
from mpgraph.quant.placement.choice import Choice
from mpgraph.quant.placement.clipped import clipped
from mpgraph.quant.placement.demand import Candidate, Demand

__all__ = ["preferred"]

_DYNAMIC = 0.5
"""To what part of the error a range per sample must bring it: it ends chains of integers."""


def preferred(
    candidate: Candidate, choice: Choice, demand: Demand, errors: Mapping[ir.Node, FormErrors]
) -> Choice:
    """The choice, or one that takes ranges when the model runs where that is much closer, or float
    where nothing helps."""
    if choice.form == "static" and not demand.forces(candidate.node):
        problem = _harm(candidate, demand)
        if problem:
            return replace(choice, form="float", reason=problem)
    found = errors.get(candidate.node)
    if found is None or choice.form not in ("static", "dynamic"):
        return choice
    if candidate.node.op_type not in demand.rules.dynamic or choice.mode.weight_dtype != "int8":
        return choice
    current = found.static if choice.form == "static" else found.dynamic
    if current > FINE and found.dynamic_rows < WORTH_ROWS * min(current, found.dynamic):
        return replace(choice, form="dynamic_rows", reason=_reason("row", found, current))
    if choice.form == "static" and current > FINE and found.dynamic < _DYNAMIC * current:
        return replace(choice, form="dynamic", reason=_reason("sample", found, current))
    return choice


def _reason(what: str, found: FormErrors, current: float) -> str:
    least = found.dynamic_rows if what == "row" else found.dynamic
    return f"a range per {what} leaves an error of {least:.2g} of its energy, not {current:.2g}"


def _harm(candidate: Candidate, demand: Demand) -> str:
    """What rounding an operand, or the result where that must be, does; empty where it is fine."""
    node, operands = candidate.node, candidate.operands
    values = [node.inputs[operands.activation], node.inputs[operands.weight]]
    if node.op_type in demand.rules.results:
        values.append(clipped(node))
    for value in values:
        if value is not None and value in demand.harmful:
            error = demand.harmful[value]
            return f"rounding {value.name} alone costs the outputs {error:.2g} of their energy"
    return ""
