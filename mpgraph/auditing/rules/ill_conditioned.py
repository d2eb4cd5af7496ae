"""MPG110: functions that need more digits of their operand than it has."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.numeric import from_hazard
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]

_PHASE = frozenset({"Sin", "Cos", "Tan"})


def _search(context: Context) -> Iterator[Found]:
    for hazard in context.hazards("ill-conditioned"):
        value = hazard.subject
        takes_phase = value is not None and any(use.node.op_type in _PHASE for use in value.uses())
        # Of a magnitude that nobody measured, only a phase is likely to be large.
        if hazard.measured or (
            takes_phase and value is not None and context.is_low(value, hazard.dtype)
        ):
            yield from_hazard(context, hazard)


RULE = Rule(
    code="MPG110",
    kind="ill-conditioned",
    title="function that needs more digits than its operand has",
    severity="warning",
    explanation="""
Rounding x by a relative error u changes sin(x) by up to u|x| and exp(x) by a relative u|x|: both
need a small x. log(x) of a number that is flushed to zero is -inf.

Example: sin(1000.3) in float16: the operand is rounded to 1000.5, the result is off by 0.2.

Measured on data; without data it is said of sines of float16 angles only. mpgraph convert keeps the
operand in float32.
""",
    search=_search,
)
