"""MPG202: casts there and back that do nothing."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]


def _search(context: Context) -> Iterator[Found]:
    for cast in context.casts:
        if cast.effect != "removable pair":
            continue
        node = context.nodes[cast.key]
        yield Found(
            finding="removable cast pair",
            evidence=f"{cast.source} -> {cast.target} -> {cast.source} keeps every number",
            suggestion="remove both with --fix",
            value=node.outputs[0],
            node=node,
        )


RULE = Rule(
    code="MPG202",
    kind="removable-cast-pair",
    title="casts there and back that do nothing",
    severity="note",
    explanation="""
A value is cast to a dtype that holds all of its numbers, and right behind cast back. Both casts
read and write the value for nothing.

Example: float16 -> float32 -> float16, float32 -> float64 -> float32.

--fix lets the readers of the second cast take the operand of the first, and removes what nobody
reads then. Results stay the same, bit by bit.
""",
    search=_search,
    fix="remove-cast-pairs",
)
