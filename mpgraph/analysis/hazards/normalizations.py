"""Normalisations that an exporter has written in pieces."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.analysis.hazard import Hazard
from mpgraph.analysis.hazards.evidence import Evidence
from mpgraph.analysis.hazards.names import short_name

__all__ = ["decomposed_normalizations"]

_LARGEST_EPSILON = 0.1
_MEANS = frozenset(
    ["ReduceMean", "ReduceSum", "ReduceSumSquare", "ReduceL2", "GlobalAveragePool", "AveragePool"]
)
_ROOTS = frozenset({"Sqrt", "Rsqrt"})


def decomposed_normalizations(evidence: Evidence) -> Iterator[Hazard]:
    """Mean of squares plus epsilon, root, quotient.

    Squares overflow float16 above 256 and vanish below 2^-12.

    Found from its middle: a root of (mean of squares + small constant). From there back to the
    squares and the difference from the mean, and forward to the quotient.
    """
    for node in evidence.nodes:
        if node.domain != "" or not _is_root(evidence, node):
            continue
        island = _island(evidence, node)
        if island:
            yield evidence.hazard(
                "decomposed-normalization",
                f"decomposed normalisation in {short_name(evidence.dtype)}",
                node.outputs[0],
                "squares of activations are averaged",
                evidence.cells_of(island),
            )


def _is_root(evidence: Evidence, node: ir.Node) -> bool:
    if node.op_type in _ROOTS:
        return True
    if node.op_type != "Pow":
        return False
    exponent = evidence.scalar(node.inputs[1])
    return exponent is not None and abs(exponent) == 0.5


def _producer(value: ir.Value | None, op_types: frozenset[str]) -> ir.Node | None:
    node = None if value is None else value.producer()
    return node if node is not None and node.op_type in op_types else None


def _island(evidence: Evidence, root: ir.Node) -> list[ir.Node]:
    added = _producer(root.inputs[0], frozenset({"Add", "Max", "Clip"}))
    mean = _producer(root.inputs[0], _MEANS)
    if added is not None:
        epsilons = [
            scalar for value in added.inputs if (scalar := evidence.scalar(value)) is not None
        ]
        if not any(0 < abs(epsilon) <= _LARGEST_EPSILON for epsilon in epsilons):
            return []
        mean = next((found for value in added.inputs if (found := _producer(value, _MEANS))), None)
    if mean is None:
        return []
    island = [root, mean, *([added] if added is not None else [])]
    square = _producer(mean.inputs[0], frozenset({"Pow", "Mul"}))
    if square is not None:
        island.append(square)
        difference = _producer(square.inputs[0], frozenset({"Sub"}))
        if difference is not None:
            island.append(difference)
            centre = _producer(difference.inputs[1], _MEANS)
            island += [centre] if centre is not None else []
    return [*island, *_quotients(root)]


def _quotients(root: ir.Node) -> Iterator[ir.Node]:
    for use in root.outputs[0].uses():
        if use.node.op_type not in ("Div", "Reciprocal", "Mul"):
            continue
        yield use.node
        if use.node.op_type == "Reciprocal":
            yield from (
                inner.node for inner in use.node.outputs[0].uses() if inner.node.op_type == "Mul"
            )
