"""MPG103: values that leave the range of a low dtype."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.numeric import from_hazard, keep_wide
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]


def _search(context: Context) -> Iterator[Found]:
    seen: set[ir.Value] = set()
    for hazard in context.hazards("activation-overflow", "carried-overflow"):
        value = hazard.subject
        if value is None or value in seen:
            continue
        statistics = context.measured.get(value.name or "")
        # A conversion leaves a factor of two; what is reported here is really outside.
        if statistics is not None and statistics.amax <= ir.limits(hazard.dtype).max:
            continue
        seen.add(value)
        yield from_hazard(context, hazard)
    yield from _infinite(context)


def _infinite(context: Context) -> Iterator[Found]:
    """Values of a low dtype that were infinite or NaN when the model ran."""
    flow = context.subject.flow
    for _, value in context.subject.values():
        dtype, statistics = flow.dtype(value), context.measured.get(value.name or "")
        if dtype in context.low_dtypes and statistics is not None and statistics.nonfinite:
            yield Found(
                finding=f"activation outside {_SHORT[dtype]} range",
                evidence=f"{statistics.nonfinite} of {statistics.count} elements are not finite",
                suggestion=keep_wide(context, value, dtype),
                value=value,
                measured=True,
            )


_SHORT = {ir.DataType.FLOAT16: "fp16", ir.DataType.BFLOAT16: "bf16"}

RULE = Rule(
    code="MPG103",
    kind="activation-overflow",
    title="activation outside the range of a low dtype",
    severity="warning",
    explanation="""
A value that the model computes leaves the range of float16 (65504). With data this was measured;
without, it is said where a constant outside of the range reaches the value.

Example: the sum of squares in a normalisation of 4096 elements of magnitude 10 is 4e5: infinity in
float16, and the normalised values are zero.

In a float32 model this is a note on what a conversion would do. mpgraph convert keeps such nodes in
float32 when it is given the data (--data), or holds the values times a power of two (range_scaling
in a policy file). In a float16 model convert again from the float32 original with that node
excluded.
""",
    search=_search,
)
