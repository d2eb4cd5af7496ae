"""Sums that leave the range of a low dtype."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import prod

from mpgraph import ir
from mpgraph.analysis.dtype_flow import TypeFlow
from mpgraph.analysis.hazard import Hazard
from mpgraph.analysis.hazards.evidence import Evidence
from mpgraph.analysis.hazards.names import short_name

__all__ = ["exponential_sums", "long_sums"]

_SUMS = frozenset(
    {"ReduceSum", "ReduceSumSquare", "ReduceL1", "ReduceL2", "CumSum", "ReduceLogSumExp"}
)
_TYPICAL_MAGNITUDE = 16.0
"""Activations of normalised networks rarely pass this; a longer sum than max / 16 may overflow."""

_PASSED_THROUGH = frozenset(
    [
        "Identity",
        "Reshape",
        "Squeeze",
        "Unsqueeze",
        "Transpose",
        "Mul",
        "Cast",
        "Slice",
        "Concat",
        "Where",
        "Add",
    ]
)


def long_sums(evidence: Evidence) -> Iterator[Hazard]:
    """Sums over so many elements that typical activations overflow, where nothing was measured."""
    for node in evidence.nodes:
        if node.domain != "" or node.op_type not in _SUMS or not node.outputs:
            continue
        result = node.outputs[0]
        if result not in evidence.graph.results or evidence.statistics(result) is not None:
            continue
        terms = _terms(node, evidence.flow)
        if terms is not None and terms * _TYPICAL_MAGNITUDE <= evidence.limits.max:
            continue
        length = "an unknown number of" if terms is None else f"{terms}"
        yield evidence.hazard(
            "long-sum",
            f"accumulation over many elements in {short_name(evidence.dtype)}",
            result,
            f"it sums {length} elements",
            (*evidence.around(result), *evidence.cells_of([node])),
        )


def _terms(node: ir.Node, flow: TypeFlow) -> int | None:
    """How many elements one element of the result is summed from; None where shapes are unknown."""
    operand = None if node.inputs[0] is None else flow.shape(node.inputs[0])
    if operand is None:
        return None
    result = flow.shape(node.outputs[0])
    extents = [extent for extent in operand if isinstance(extent, int)]
    if node.op_type == "CumSum":
        return max(extents) if len(extents) == len(operand) else None
    if result is None or len(extents) < len(operand):
        return _known_terms(operand, result)
    left = prod(extent for extent in result if isinstance(extent, int))
    return prod(extents) // left if left else 0


def _known_terms(operand: ir.Dims, result: ir.Dims | None) -> int | None:
    """With symbolic extents that survive, the reduced ones may still be known."""
    if result is None or len(operand) != len(result):
        return None
    reduced = [before for before, after in zip(operand, result, strict=True) if before != after]
    known = [extent for extent in reduced if isinstance(extent, int)]
    return prod(known) if len(known) == len(reduced) else None


def exponential_sums(evidence: Evidence) -> Iterator[Hazard]:
    """Exp before a sum: a softmax or log-sum-exp in pieces, whose sum leaves the range."""
    for node in evidence.nodes:
        if node.domain != "" or node.op_type != "Exp":
            continue
        chain = _up_to_sum(node)
        if chain:
            yield evidence.hazard(
                "exponential-sum",
                f"accumulation over many elements in {short_name(evidence.dtype)}",
                node.outputs[0],
                "its exponentials are summed",
                evidence.cells_of(chain),
            )


def _up_to_sum(start: ir.Node, steps: int = 3) -> list[ir.Node]:
    """The nodes from an Exp to the sums and quotients made of it; empty if it is not summed."""
    chain = {start: None}
    summed = False
    pending = deque([(start, steps)])
    while pending:
        node, left = pending.popleft()
        for use in node.outputs[0].uses():
            follower = use.node
            is_sum = follower.op_type in _SUMS
            summed |= is_sum
            if is_sum or follower.op_type in ("Div", "Log", "Reciprocal"):
                chain[follower] = None
            if left and (is_sum or follower.op_type in _PASSED_THROUGH):
                pending.append((follower, left - 1))
    return list(chain) if summed else []
