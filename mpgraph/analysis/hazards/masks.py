"""Values that may carry an out-of-range constant onwards, such as attention masks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import inf

from mpgraph import ir
from mpgraph.analysis.hazard import Hazard
from mpgraph.analysis.hazards.divisors import quotients_by_small
from mpgraph.analysis.hazards.evidence import Evidence
from mpgraph.analysis.hazards.names import short_name
from mpgraph.analysis.hazards.operators import BOUNDING

__all__ = ["carried_overflow"]

_RISES = 8
"""How often the bound of a value may rise before it is taken for unbounded."""


def carried_overflow(evidence: Evidence) -> Iterator[Hazard]:
    """Follow numbers beyond the dtype's range through the graph until something bounds them.

    They come from constants, from attributes and from divisions by very small constants. Selection,
    addition and multiplication hand them on; a product with a known number scales them. Every node
    that reads or writes one must stay wide, or a mask of -FLT_MAX turns into -inf and a fully
    masked Softmax row into NaN.
    """
    for value, bound in _bounds(evidence).items():
        if value not in evidence.graph.constants:
            yield evidence.hazard(
                "carried-overflow",
                f"activation outside {short_name(evidence.dtype)} range",
                value,
                f"a constant of magnitude {bound:.4g} reaches it",
                evidence.around(value),
            )


def _bounds(evidence: Evidence) -> dict[ir.Value, float]:
    """The values that may leave the range, with the magnitude that they may have.

    A value whose bound rises again and again, round a loop or along many ways, is taken for
    unbounded, so that each is looked at a fixed number of times at most.
    """
    bounds: dict[ir.Value, float] = {}
    rises: dict[ir.Value, int] = {}
    pending: deque[ir.Value] = deque()
    waiting: set[ir.Value] = set()

    def raise_to(value: ir.Value, bound: float) -> None:
        if bound <= bounds.get(value, evidence.limits.max):
            return
        rises[value] = rises.get(value, 0) + 1
        bounds[value] = bound if rises[value] < _RISES else inf
        if value not in waiting:
            waiting.add(value)
            pending.append(value)

    for value, bound in _sources(evidence):
        raise_to(value, bound)
    while pending:
        value = pending.popleft()
        waiting.remove(value)
        for reached, bound in _reached(evidence, value, bounds[value]):
            raise_to(reached, bound)
    return bounds


def _sources(evidence: Evidence) -> Iterator[tuple[ir.Value, float]]:
    for value in evidence.tensors:
        found = evidence.range_of(value)
        if found is not None:
            yield value, found.amax
    for number in evidence.numbers:
        if number.node.op_type not in BOUNDING:
            for value in number.node.outputs:
                if value in evidence.graph.results:
                    yield value, number.largest
    yield from quotients_by_small(evidence)


def _reached(evidence: Evidence, value: ir.Value, bound: float) -> Iterator[tuple[ir.Value, float]]:
    for handed in evidence.handovers.onwards.get(value, ()):
        if handed in evidence.graph.results:
            yield handed, bound
    for use in value.uses():
        if use.node in evidence.handovers.owners or use.node.op_type in BOUNDING:
            continue
        scaled = bound * _scale(evidence, use.node, use.idx)
        for result in use.node.outputs:
            if result in evidence.graph.results:
                yield result, scaled


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
