"""Integers that are routed through a float type."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from mpgraph import ir
from mpgraph.analysis.hazard import Hazard
from mpgraph.analysis.hazards.evidence import Evidence
from mpgraph.analysis.hazards.names import short_name

__all__ = ["integers_from_casts", "integers_to_casts", "measured_integers"]

_WIDE_INTEGERS = frozenset(
    {
        ir.DataType.INT16,
        ir.DataType.UINT16,
        ir.DataType.INT32,
        ir.DataType.UINT32,
        ir.DataType.INT64,
        ir.DataType.UINT64,
    }
)

_KEEP_INTEGERS = frozenset(
    [
        "Identity",
        "Reshape",
        "Flatten",
        "Squeeze",
        "Unsqueeze",
        "Transpose",
        "Expand",
        "Tile",
        "Concat",
        "Slice",
        "Split",
        "Gather",
        "GatherElements",
        "GatherND",
        "ScatterND",
        "ScatterElements",
        "Pad",
        "Add",
        "Sub",
        "Mul",
        "Neg",
        "Abs",
        "Floor",
        "Ceil",
        "Round",
        "Min",
        "Max",
        "Range",
        "Mod",
        "CumSum",
        "ReduceMax",
        "ReduceMin",
        "ReduceSum",
        "ReduceProd",
        "Where",
    ]
)
"""Operators that give integers for integers."""

_MAKE_INTEGERS = frozenset({"Floor", "Ceil", "Round", "Mod"})


def _finding(evidence: Evidence) -> str:
    return f"integer routed through {short_name(evidence.dtype)}, which cannot hold it"


def _largest_integer(evidence: Evidence) -> float:
    """The largest n such that all integers up to n are exact: 2^(digits), 2048 for float16."""
    return 2 / evidence.limits.epsilon


def integers_from_casts(evidence: Evidence) -> Iterator[Hazard]:
    """Casts from wide integers to float, and what is computed from them in integers.

    Positions, lengths and indices pass 2048 in real use whatever a sample shows; the path from the
    cast up to and including the first operator that leaves the integers stays wide.
    """
    pending: deque[ir.Value] = deque()
    for node in evidence.nodes:
        if (
            node.op_type == "Cast" and evidence.flow.dtype(node.inputs[0]) in _WIDE_INTEGERS
        ) or node.op_type == "Range":
            pending.append(node.outputs[0])
    seen = {value for value in pending if value in evidence.graph.results}
    pending = deque(seen)
    while pending:
        value = pending.popleft()
        yield evidence.hazard(
            "integer-path",
            _finding(evidence),
            value,
            f"integers above {_largest_integer(evidence):.0f} are not exact",
            evidence.around(value),
        )
        for result in _handed_on(evidence, value):
            if result in evidence.graph.results and result not in seen:
                seen.add(result)
                pending.append(result)


def _handed_on(evidence: Evidence, value: ir.Value) -> Iterator[ir.Value]:
    yield from evidence.handovers.onwards.get(value, ())
    for use in value.uses():
        if _stays_integer(evidence, use.node):
            yield from use.node.outputs


def _stays_integer(evidence: Evidence, node: ir.Node) -> bool:
    if node.op_type not in _KEEP_INTEGERS:
        return False
    factors = (evidence.scalar(value) for value in node.inputs)
    return all(factor is None or factor.is_integer() for factor in factors)


def integers_to_casts(evidence: Evidence) -> Iterator[Hazard]:
    """Floats that are about to be rounded to integers: an error there becomes a whole step."""
    for node in evidence.nodes:
        if not node.inputs or node.inputs[0] is None or node.domain != "":
            continue
        value = node.inputs[0]
        if value not in evidence.graph.results or not _makes_integers(evidence, node):
            continue
        yield evidence.hazard(
            "rounded-to-integer",
            _finding(evidence),
            value,
            f"{node.op_type} turns its rounding error into whole steps",
            evidence.between(value, node),
        )


def _makes_integers(evidence: Evidence, node: ir.Node) -> bool:
    if node.op_type != "Cast":
        return node.op_type in _MAKE_INTEGERS
    return evidence.flow.dtype(node.outputs[0]) in _WIDE_INTEGERS


def measured_integers(evidence: Evidence) -> Iterator[Hazard]:
    """Values that hold integers only, and larger ones than the dtype has."""
    for value in evidence.graph.results:
        found = evidence.statistics(value)
        if found is None or not found.integer_valued or found.amax <= _largest_integer(evidence):
            continue
        yield evidence.hazard(
            "measured-integer",
            _finding(evidence),
            value,
            f"integers up to {found.amax:.6g}",
            evidence.around(value),
            measured=True,
        )
