"""MPG104: measured values that vanish in a low dtype."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.numeric import from_hazards, keep_wide, severity_of
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]

_MOSTLY = 0.5
_FADING = frozenset(
    {"Celu", "Elu", "Exp", "Gelu", "LogSoftmax", "Mish", "Selu", "Sigmoid", "Softmax", "Swish"}
)
"""Operators with a tail: most of their results may be close to zero and stand for zero."""


def _search(context: Context) -> Iterator[Found]:
    seen: set[ir.Value | None] = set()
    for found in from_hazards(context, "activation-underflow", "small-divisor"):
        if found.value not in seen:
            seen.add(found.value)
            yield found
    if ir.DataType.FLOAT16 in context.low_dtypes:
        yield from _flushed(context, seen)


def _flushed(context: Context, seen: set[ir.Value | None]) -> Iterator[Found]:
    """Values of which float16 would make zeros for the most part."""
    for _, value in context.subject.values():
        statistics = context.measured.get(value.name or "")
        producer = value.producer()
        if statistics is None or statistics.flushed_fraction < _MOSTLY or value in seen:
            continue
        if producer is not None and producer.op_type in _FADING:
            continue
        yield Found(
            finding="activation underflows fp16",
            evidence=f"{100 * statistics.flushed_fraction:.0f} % of its nonzero elements are lost",
            suggestion=keep_wide(context, value, ir.DataType.FLOAT16),
            value=value,
            measured=True,
            severity=severity_of(context, value, ir.DataType.FLOAT16),
        )


RULE = Rule(
    code="MPG104",
    kind="activation-underflow",
    title="activation lost below the range of a low dtype",
    severity="warning",
    explanation="""
Measured on data: a value lies below the smallest normal number of float16 (6.1e-5) altogether; most
of its nonzero elements are below 3e-8 and become zero; or a divisor, or the operand of a root, has
elements there, so that a quotient becomes infinite.

Example: a variance of 1e-14 is zero in float16, and its reciprocal root infinite.

In a float32 model this is a note on what a conversion would do. mpgraph convert keeps such nodes in
float32 when it is given the data (--data).
""",
    search=_search,
)
