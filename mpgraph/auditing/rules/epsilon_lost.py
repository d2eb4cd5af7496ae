"""MPG108: small constants that keep a divisor from zero, and vanish in a low dtype."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.numeric import from_hazard
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]

_GUARDS = frozenset({"Add", "Clip", "Max"})
_SITES = frozenset({("Div", 1), ("Log", 0), ("Reciprocal", 0), ("Sqrt", 0), ("Pow", 0)})


def _search(context: Context) -> Iterator[Found]:
    for hazard in context.hazards("constant-small-divisor"):
        # The hazard speaks of every value on the way; the finding, of where it begins.
        if hazard.subject in context.weights.tensors:
            short = hazard.finding.rpartition(" ")[2]
            yield from_hazard(context, hazard, f"epsilon lost in {short}")
    yield from _zeros(context)


def _zeros(context: Context) -> Iterator[Found]:
    """Zeros of a low dtype that are added to what a root is taken of, or what divides."""
    for value, found in context.weights.ranges.items():
        dtype = context.weights.tensors[value].dtype
        if dtype not in context.low_dtypes or found.amax or not found.zeros:
            continue
        if any(use.node.op_type in _GUARDS and _divides(use.node) for use in value.uses()):
            short = "fp16" if dtype == ir.DataType.FLOAT16 else "bf16"
            yield Found(
                finding=f"epsilon lost in {short}",
                evidence="zero is added to what is divided by, or to the operand of a root",
                suggestion="convert again from the float32 original, in which it is not zero",
                value=value,
            )


def _divides(node: ir.Node) -> bool:
    uses = node.outputs[0].uses()
    return any((use.node.op_type, use.idx) in _SITES for use in uses)


RULE = Rule(
    code="MPG108",
    kind="epsilon-lost",
    title="epsilon lost",
    severity="warning",
    explanation="""
A constant with elements that a low dtype loses comes to a quotient, a root or a logarithm, mostly
as the epsilon that keeps a divisor from zero. Where it becomes zero, the quotient can be infinite.
Or a model of a low dtype adds zero there: its epsilon is lost already.

Example: x / sqrt(variance + 1e-12) for a row of equal elements is 0 / 0 in float16.

In a float32 model this is a note on what a conversion would do; mpgraph convert keeps all operators
from there to the quotient in float32. Else use an epsilon of 1e-4 or more (float16).
""",
    search=_search,
)
