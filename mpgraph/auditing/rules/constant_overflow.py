"""MPG101: constants that a low dtype turns into infinity."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.numeric import from_hazards
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]


def _search(context: Context) -> Iterator[Found]:
    return from_hazards(context, "constant-overflow", "attribute-overflow")


RULE = Rule(
    code="MPG101",
    kind="constant-overflow",
    title="constant outside the range of a low dtype",
    severity="warning",
    explanation="""
A constant, or a number in an attribute, has a larger magnitude than the largest finite number of
float16 (65504) or bfloat16 (3.39e38). A conversion makes it infinite, or clamps it, which is
another number.

Example: a mask of -3.4e38 (the lowest float32) becomes -inf; a row of a Softmax in which every
element is masked is then NaN.

In a float32 model this is a note on what a conversion would do; mpgraph convert keeps the nodes
that take such a constant in float32. For a constant that is only "very large", such as a mask, a
number inside of the range (-1e4) does the same work. For a scale, divide it and multiply later.
""",
    search=_search,
)
