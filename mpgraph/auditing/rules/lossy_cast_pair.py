"""MPG201: casts there and back that round."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.auditing.context import Context
from mpgraph.auditing.facts import CastFact
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]

_WIDE = 32


def _search(context: Context) -> Iterator[Found]:
    for cast in context.casts:
        if cast.effect != "lossy pair":
            continue
        node = context.nodes[cast.key]
        yield Found(
            finding="lossy cast pair",
            evidence=f"{cast.source} -> {cast.target} -> {cast.source}",
            suggestion=f"take {cast.value!r} as it is if the rounding is not meant",
            value=node.outputs[0],
            node=node,
            severity=None if _loses_digits(cast) else "note",
        )


def _loses_digits(cast: CastFact) -> bool:
    """Whether usual numbers suffer; integers do so only beyond a range that shapes stay in."""
    dtypes = map(ir.parse_dtype, (cast.source, cast.target))
    return not all(dtype.is_integer() and dtype.bitwidth >= _WIDE for dtype in dtypes)


RULE = Rule(
    code="MPG201",
    kind="lossy-cast-pair",
    title="casts there and back that lose digits",
    severity="warning",
    explanation="""
A value is cast to a dtype that does not hold all of its numbers, and right behind cast back. The
result has the wide dtype and the narrow precision.

Example: float32 -> float16 -> float32 rounds to 11 bits and overflows above 65504;
float32 -> int32 -> float32 truncates. int64 -> int32 -> int64, around operators that lack int64, is
a note: it loses nothing below 2^31.

Sometimes that is the meaning (truncation), sometimes a leftover of two tools in a row. It is not
removed by itself, for that changes results: where no rounding is meant, feed the second cast's
readers from the first one's operand.
""",
    search=_search,
)
