"""MPG303: scales by which nothing can be divided."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph.auditing.collect.quantization import quantized_operands
from mpgraph.auditing.context import Context
from mpgraph.auditing.facts import Range
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]


def _search(context: Context) -> Iterator[Found]:
    for fact in context.quantization:
        node = context.nodes[fact.key]
        found = quantized_operands(node)
        scale = None if found is None else found.scale
        known = None if scale is None else context.weights.ranges.get(scale)
        evidence = "" if known is None else _evidence(known)
        if evidence:
            yield Found(
                finding="zero or non-finite scale",
                evidence=evidence,
                suggestion="calibrate again; the scale of a channel of zeros can be any, such as 1",
                value=scale,
                node=node,
            )


def _evidence(scale: Range) -> str:
    counts = (
        (scale.zeros, "zero"),
        (scale.nonfinite, "NaN or infinite"),
        (int(scale.minimum < 0), "negative"),
    )
    return ", ".join(f"{count} {what}" for count, what in counts if count)


RULE = Rule(
    code="MPG303",
    kind="bad-scale",
    title="zero or non-finite scale",
    severity="error",
    explanation="""
A scale is zero, negative, NaN or infinite. QuantizeLinear divides by it; DequantizeLinear makes
zeros or NaN of every number.

Example: a channel of a weight that is all zero was calibrated to the scale 0.

Calibrate again, with a lower bound on scales. TensorRT refuses a model with such a scale.
""",
    search=_search,
)
