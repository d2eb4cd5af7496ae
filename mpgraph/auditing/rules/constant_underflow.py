"""MPG102: constants that a low dtype turns into zero."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.numeric import from_hazards
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]


def _search(context: Context) -> Iterator[Found]:
    for found in from_hazards(context, "constant-underflow"):
        # What only hands a constant on is not named beside it.
        if found.value in context.weights.tensors:
            yield found
    yield from from_hazards(context, "attribute-underflow")


RULE = Rule(
    code="MPG102",
    kind="constant-underflow",
    title="constant lost below the range of a low dtype",
    severity="warning",
    explanation="""
A constant, or a number in an attribute, lies below the smallest normal number of float16 (6.1e-5)
and loses its digits, or is below 3e-8 and becomes zero. Of a constant with several elements this
is said where even the largest is that small.

Example: an epsilon of 1e-9 in x / (norm + epsilon) is zero in float16, and the quotient NaN for a
row of zeros; a scale of 1e-9 makes every product zero.

In a float32 model this is a note on what a conversion would do; mpgraph convert keeps the nodes
that take such a constant in float32. Else choose a larger epsilon (1e-4 for float16), or multiply
by the scale in float32.
""",
    search=_search,
)
