"""Values that may carry an out-of-range constant onwards, such as attention masks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from mpgraph import ir
from mpgraph.analysis.hazard import Hazard
from mpgraph.analysis.hazards.evidence import Evidence
from mpgraph.analysis.hazards.names import short_name

__all__ = ["carried_overflow"]

_BOUNDING = frozenset(
    [
        "Softmax",
        "Sigmoid",
        "HardSigmoid",
        "Tanh",
        "Erf",
        "Softsign",
        "Sign",
        "Sin",
        "Cos",
        "Atan",
        "LayerNormalization",
        "InstanceNormalization",
        "GroupNormalization",
        "RMSNormalization",
        "LpNormalization",
        "MeanVarianceNormalization",
        "Exp",
        "Clip",
        "Shape",
        "Size",
        "Hardmax",
        "Reciprocal",
    ]
)
"""Operators whose result stays in range although an operand does not."""


def carried_overflow(evidence: Evidence) -> Iterator[Hazard]:
    """Follow constants beyond the dtype's range through the graph until something bounds them.

    Selection, addition and multiplication hand such a constant on; a product with a known number
    scales it. Every node that reads or writes it must stay wide, or a mask of -FLT_MAX turns into
    -inf and a fully masked Softmax row into NaN.
    """
    bounds: dict[ir.Value, float] = {}
    pending: deque[ir.Value] = deque()
    for value in evidence.graph.constants:
        found = evidence.range_of(value)
        if found is not None and found.amax > evidence.limits.max:
            bounds[value] = found.amax
            pending.append(value)
    while pending:
        value = pending.popleft()
        for reached, bound in _reached(evidence, value, bounds[value]):
            if bound > bounds.get(reached, evidence.limits.max):
                is_new = reached not in bounds
                bounds[reached] = max(bound, bounds.get(reached, 0.0))
                if is_new:
                    pending.append(reached)
    for value, bound in bounds.items():
        if value not in evidence.graph.constants:
            yield evidence.hazard(
                "carried-overflow",
                f"activation outside {short_name(evidence.dtype)} range",
                value,
                f"a constant of magnitude {bound:.4g} reaches it",
                evidence.around(value),
            )


def _reached(evidence: Evidence, value: ir.Value, bound: float) -> Iterator[tuple[ir.Value, float]]:
    for use in value.uses():
        if use.node.op_type in _BOUNDING:
            continue
        scaled = bound * _scale(evidence, use.node, use.idx)
        for result in use.node.outputs:
            if result in evidence.graph.results:
                yield result, scaled
    for cell in evidence.output_cells.get(value, ()):
        for result in evidence.values_of_cell.get(cell, ()):
            if not evidence.graph.cells[cell].fixed:
                yield result, bound


def _scale(evidence: Evidence, node: ir.Node, index: int) -> float:
    """By how much a product or quotient with a known number changes the operand at ``index``."""
    if node.op_type not in ("Mul", "Div") or len(node.inputs) != 2:
        return 1.0
    factor = evidence.scalar(node.inputs[1 - index])
    if factor is None or factor == 0:
        return 1.0
    if node.op_type == "Mul":
        return abs(factor)
    return 1 / abs(factor) if index == 0 else 1.0
