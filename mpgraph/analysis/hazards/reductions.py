"""Sums that leave the range of a low dtype."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

from mpgraph import ir
from mpgraph.analysis.dtype_flow import TypeFlow
from mpgraph.analysis.hazard import Hazard
from mpgraph.analysis.hazards.evidence import Evidence
from mpgraph.analysis.hazards.names import short_name
from mpgraph.analysis.hazards.ranges import TYPICAL_MAGNITUDE

__all__ = ["SUMS", "exponential_sums", "long_sums", "terms_of"]

SUMS = frozenset(
    {"ReduceSum", "ReduceSumSquare", "ReduceL1", "ReduceL2", "CumSum", "ReduceLogSumExp"}
)
_QUOTIENTS = frozenset({"Div", "Log", "Reciprocal"})
_STEPS = 3
"""How many nodes may stand between an Exp and its sum, and between a sum and its quotient."""

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
        if node.domain != "" or node.op_type not in SUMS or not node.outputs:
            continue
        result = node.outputs[0]
        if result not in evidence.graph.results or evidence.statistics(result) is not None:
            continue
        terms = terms_of(node, evidence.flow)
        if terms is not None and terms * TYPICAL_MAGNITUDE <= evidence.limits.max:
            continue
        length = "an unknown number of" if terms is None else f"{terms}"
        yield evidence.hazard(
            "long-sum",
            f"accumulation over many elements in {short_name(evidence.dtype)}",
            result,
            f"it sums {length} elements",
            (*evidence.around(result), *evidence.cells_of([node])),
        )


def terms_of(node: ir.Node, flow: TypeFlow) -> int | None:
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
    """Exp before a sum: a softmax or log-sum-exp in pieces, whose sum leaves the range.

    From the sums back to the exponentials, then forwards to the sums and quotients made of these;
    each node is looked at once in each direction, for whichever Exp comes to it first.
    """
    starts = [
        node
        for node in _before_sums(evidence, _STEPS)
        if (node.domain, node.op_type) == ("", "Exp")
    ]
    for start, chain in _up_to_quotients(evidence, starts, _STEPS).items():
        yield evidence.hazard(
            "exponential-sum",
            f"accumulation over many elements in {short_name(evidence.dtype)}",
            start.outputs[0],
            "its exponentials are summed",
            evidence.cells_of(chain),
        )


def _before_sums(evidence: Evidence, steps: int) -> dict[ir.Node, None]:
    """The nodes whose result reaches a sum with at most ``steps`` nodes between."""
    if not any(node.op_type == "Exp" for node in evidence.nodes):
        return {}
    found: dict[ir.Node, None] = {}
    level = [node for node in evidence.nodes if node.op_type in SUMS]
    for _ in range(steps + 1):
        operands = (value for node in level for value in node.inputs if value is not None)
        before = [
            node
            for value in _seen_as(operands, evidence.handovers.backwards)
            if (node := value.producer()) is not None
        ]
        level = [node for node in dict.fromkeys(before) if node not in found]
        found |= dict.fromkeys(level)
        level = [node for node in level if node.op_type in _PASSED_THROUGH | SUMS]
    return found


def _up_to_quotients(
    evidence: Evidence, starts: Iterable[ir.Node], steps: int
) -> dict[ir.Node, list[ir.Node]]:
    """For each start, the sums and quotients that it is the first to reach, and itself."""
    chains = {start: [start] for start in starts}
    origins = {start: start for start in chains}
    level = list(chains)
    for _ in range(steps + 1):
        following: list[ir.Node] = []
        for node in level:
            for value in _seen_as(node.outputs, evidence.handovers.onwards):
                for use in value.uses():
                    if use.node not in origins:
                        origins[use.node] = origins[node]
                        following.append(use.node)
        for node in following:
            if node.op_type in SUMS | _QUOTIENTS:
                chains[origins[node]].append(node)
        level = [node for node in following if node.op_type in _PASSED_THROUGH | SUMS]
    return chains


def _seen_as(
    values: Iterable[ir.Value], handovers: Mapping[ir.Value, Sequence[ir.Value]]
) -> Iterator[ir.Value]:
    """Values, and those that they are on the other side of interfaces."""
    seen = dict.fromkeys(values)
    pending = deque(seen)
    while pending:
        value = pending.popleft()
        yield value
        for other in handovers.get(value, ()):
            if other not in seen:
                seen[other] = None
                pending.append(other)
