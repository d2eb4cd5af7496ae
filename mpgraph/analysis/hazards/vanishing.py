"""Constants that a low dtype loses, wherever they are handed on as they are."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from mpgraph import ir
from mpgraph.analysis.hazards.evidence import Evidence
from mpgraph.analysis.hazards.operators import MOVES
from mpgraph.analysis.hazards.ranges import is_lost

__all__ = ["vanishing"]

_FILLS = frozenset({"Constant", "ConstantOfShape"})
"""Operators whose result is nothing but the number in their attribute."""


def vanishing(evidence: Evidence) -> dict[ir.Value, float]:
    """The values that are such a constant, with the magnitude of the first that they may be."""
    found = dict(_starts(evidence))
    pending = deque(found)
    while pending:
        value = pending.popleft()
        for reached in _handed_on(evidence, value):
            if reached in evidence.graph.results and reached not in found:
                found[reached] = found[value]
                pending.append(reached)
    return found


def _starts(evidence: Evidence) -> Iterator[tuple[ir.Value, float]]:
    for value in evidence.tensors:
        found = evidence.range_of(value)
        # Range scaling shrinks a constant only where what it loses does not count.
        shrunk = max(0, min(evidence.scaling.constant_exponents.get(value, (0,))))
        if found is not None and _vanishes(found.amax * 2.0**shrunk, found.size, evidence.dtype):
            yield value, found.amax
    for number in evidence.numbers:
        if number.node.op_type in _FILLS and is_lost(number.smallest, evidence.dtype):
            yield number.node.outputs[0], number.smallest


def _vanishes(amax: float, size: int, dtype: ir.DataType) -> bool:
    if size > 1:
        return 0 < amax < ir.limits(dtype).smallest_normal
    return is_lost(amax, dtype)


def _handed_on(evidence: Evidence, value: ir.Value) -> Iterator[ir.Value]:
    yield from evidence.handovers.onwards.get(value, ())
    for use in value.uses():
        if use.idx == 0 and use.node.op_type in MOVES and use.node not in evidence.handovers.owners:
            yield from use.node.outputs
