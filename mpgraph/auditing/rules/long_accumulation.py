"""MPG106: sums of many elements in a type with few digits."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.analysis.hazards.reductions import SUMS, terms_of
from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.numeric import from_hazard, keep_wide
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]

_AVERAGES = frozenset({"ReduceMean", "GlobalAveragePool"})


def _search(context: Context) -> Iterator[Found]:
    seen: set[ir.Value | None] = set()
    for hazard in context.hazards("long-sum", "exponential-sum"):
        unknown = hazard.subject is None or not _is_narrow(context, hazard.subject, hazard.dtype)
        if unknown and "unknown" in hazard.evidence:
            continue
        seen.add(hazard.subject)
        yield from_hazard(context, hazard)
    for found in _stagnating(context):
        if found.value not in seen:
            yield found


def _is_narrow(context: Context, value: ir.Value, dtype: ir.DataType) -> bool:
    return context.subject.flow.dtype(value) == dtype


def _stagnating(context: Context) -> Iterator[Found]:
    """Sums in a low dtype over more elements than it can count."""
    flow = context.subject.flow
    for _, node in context.subject.nodes():
        if node.domain != "" or node.op_type not in SUMS | _AVERAGES or not node.outputs:
            continue
        dtype = flow.dtype(node.outputs[0])
        if dtype is None or dtype not in context.low_dtypes:
            continue
        terms, most = terms_of(node, flow), 2 / ir.limits(dtype).epsilon
        if terms is not None and terms > most:
            short = "fp16" if dtype == ir.DataType.FLOAT16 else "bf16"
            yield Found(
                finding=f"accumulation over many elements in {short}",
                evidence=f"it sums {terms} elements; equal ones stop adding up at {most:.0f}",
                suggestion=keep_wide(context, node.outputs[0], dtype),
                value=node.outputs[0],
            )


RULE = Rule(
    code="MPG106",
    kind="long-accumulation",
    title="accumulation over many elements in a narrow type",
    severity="warning",
    explanation="""
A reduction adds so many elements that the sum leaves the range of float16, or that one more element
no longer changes it: after 2048 equal terms in float16, 256 in bfloat16. A softmax in pieces (Exp,
ReduceSum, Div) is the same case.

Example: ReduceSum over 100000 ones is 2048 in float16 if it is accumulated in float16.

Some kernels accumulate in float32 within and round once; ONNX does not promise it. mpgraph convert
keeps such sums in float32 by itself. In a model that is float16 already, convert again from the
float32 original with the node excluded.
""",
    search=_search,
)
