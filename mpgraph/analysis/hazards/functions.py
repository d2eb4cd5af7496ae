"""Operators whose result depends on more digits of the operand than a low dtype has."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.analysis.hazard import Hazard
from mpgraph.analysis.hazards.evidence import Evidence, Statistics
from mpgraph.analysis.hazards.names import short_name

__all__ = ["ill_conditioned"]

_TOLERANCE = 2.0**-7
"""The relative error that one rounding of the operand may cause in the result."""

_PHASE = frozenset({"Sin", "Cos", "Tan"})
_EXPONENTIAL = frozenset({"Exp"})
_LOGARITHM = frozenset({"Log"})


def ill_conditioned(evidence: Evidence) -> Iterator[Hazard]:
    """Sin, Cos, Exp and Log of values whose rounding shows in the result.

    Rounding x by a relative error u changes sin(x) by up to u|x| and exp(x) by a relative u|x|;
    both are harmless only for small |x|. log(x) turns a value that is flushed to zero into -inf.
    Without data, the magnitudes are unknown and the operand is kept wide.
    """
    for node in evidence.nodes:
        if node.domain != "" or not node.inputs or node.inputs[0] is None:
            continue
        value = node.inputs[0]
        if value not in evidence.graph.results:
            continue
        reason = _reason(evidence, node, evidence.statistics(value))
        if reason:
            yield evidence.hazard(
                "ill-conditioned",
                f"{node.op_type} needs more digits than {short_name(evidence.dtype)} has",
                value,
                reason,
                evidence.between(value, node),
                measured=evidence.statistics(value) is not None,
            )


def _reason(evidence: Evidence, node: ir.Node, found: Statistics | None) -> str:
    if node.op_type in _PHASE | _EXPONENTIAL:
        if found is None:
            return "the magnitude of its operand is unknown"
        if found.amax * evidence.limits.epsilon / 2 > _TOLERANCE:
            return f"its operand reaches {found.amax:.4g}"
    if node.op_type in _LOGARITHM:
        if found is None:
            return "its operand may be close to zero"
        if found.amin_nonzero < evidence.limits.smallest_normal:
            return f"its operand goes down to {found.amin_nonzero:.4g}"
    return ""
