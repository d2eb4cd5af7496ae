"""MPG305: zero points that the target does not take."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph.auditing.collect.quantization import quantized_operands
from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]

_SYMMETRIC_ONLY = frozenset({"tensorrt"})


def _search(context: Context) -> Iterator[Found]:
    target = "" if context.target is None else context.target.name
    if target not in _SYMMETRIC_ONLY:
        return
    for fact in context.quantization:
        node = context.nodes[fact.key]
        found = quantized_operands(node)
        zero_point = None if found is None else found.zero_point
        known = None if zero_point is None else context.weights.ranges.get(zero_point)
        if known is not None and known.amax:
            yield Found(
                finding=f"zero point is not zero, which {target} forbids",
                evidence=f"zero points from {known.minimum:.0f} to {known.maximum:.0f}",
                suggestion="quantize symmetrically, to int8 with zero point 0",
                value=zero_point,
                node=node,
            )


RULE = Rule(
    code="MPG305",
    kind="zero-point",
    title="non-zero zero point where the target forbids it",
    severity="error",
    explanation="""
TensorRT quantizes symmetrically: int8, fp8 and int4 with zero point 0. A Q/DQ with another zero
point is refused when the engine is built.

Example: uint8 activations with zero point 128, as quantizers for CPUs make them.

Quantize again with symmetric activations and weights. Only said with --target tensorrt.
""",
    search=_search,
)
