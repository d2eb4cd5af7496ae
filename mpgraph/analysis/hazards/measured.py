"""What data shows: values that leave the range of a low dtype, at either end."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.analysis.hazard import Hazard
from mpgraph.analysis.hazards.evidence import Evidence
from mpgraph.analysis.hazards.names import short_name

__all__ = ["measured_overflow", "measured_small_divisors", "measured_underflow"]


def measured_overflow(evidence: Evidence) -> Iterator[Hazard]:
    """Values whose magnitude comes within a factor of two of the dtype's largest number."""
    for value in evidence.graph.results:
        found = evidence.statistics(value)
        cells = () if found is None else evidence.overflowing(value, found.amax)
        if found is None or not cells:
            continue
        refusal = evidence.scaling.refused.get(value)
        yield evidence.hazard(
            "activation-overflow",
            f"activation outside {short_name(evidence.dtype)} range",
            value,
            f"magnitude {found.amax:.4g} against {evidence.limits.max:.5g}"
            + (f"; not scaled: {refusal}" if refusal else ""),
            cells,
            measured=True,
        )


def measured_underflow(evidence: Evidence) -> Iterator[Hazard]:
    """Values that lie below the normal range of the dtype altogether."""
    for value in evidence.graph.results:
        found = evidence.statistics(value)
        if found is None or not 0 < found.amax < evidence.limits.smallest_normal:
            continue
        yield evidence.hazard(
            "activation-underflow",
            f"activation underflows {short_name(evidence.dtype)}",
            value,
            f"magnitude at most {found.amax:.4g}",
            evidence.around(value),
            measured=True,
        )


def measured_small_divisors(evidence: Evidence) -> Iterator[Hazard]:
    """Divisors and operands of roots with elements below the normal range of the dtype."""
    for node in evidence.nodes:
        value = _divisor(node)
        found = None if value is None else evidence.statistics(value)
        if value is None or found is None or value not in evidence.graph.results:
            continue
        if found.amin_nonzero >= evidence.limits.smallest_normal:
            continue
        yield evidence.hazard(
            "small-divisor",
            f"activation underflows {short_name(evidence.dtype)}",
            value,
            f"{node.op_type} takes it at {found.amin_nonzero:.4g}",
            evidence.between(value, node),
            measured=True,
        )


def _divisor(node: ir.Node) -> ir.Value | None:
    if node.domain != "":
        return None
    if node.op_type == "Div":
        return node.inputs[1]
    if node.op_type in ("Sqrt", "Reciprocal"):
        return node.inputs[0]
    return None
