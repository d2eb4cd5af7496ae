"""MPG107: masks that a low dtype turns into -inf."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.numeric import keep_wide, severity_of
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]

_CARRYING = frozenset(
    {"Add", "Cast", "Concat", "Expand", "Mul", "Reshape", "Slice", "Sub", "Transpose", "Where"}
    | {"Identity", "Squeeze", "Unsqueeze", "Div", "Tile", "Gather", "Trilu", "Min", "Max"}
)
_SOFTMAX = frozenset({"Softmax", "LogSoftmax"})
_STEPS = 12
"""How many operators may stand between a mask and its Softmax."""


def _search(context: Context) -> Iterator[Found]:
    for dtype in context.low_dtypes:
        limit, short = ir.limits(dtype).max, "fp16" if dtype == ir.DataType.FLOAT16 else "bf16"
        for value, found in context.weights.ranges.items():
            stored = context.weights.tensors[value].dtype
            becomes, is_infinite = found.minimum < -limit, stored == dtype and found.nonfinite
            if stored not in ir.FLOATS or not (becomes or is_infinite):
                continue
            if not _reaches_softmax(value):
                continue
            if becomes:
                yield Found(
                    finding=f"mask constant becomes -inf in {short}",
                    evidence=f"{found.minimum:.4g} on its way to a Softmax",
                    suggestion=f"use -1e4 as mask; {keep_wide(context, value, dtype)}",
                    value=value,
                    severity=severity_of(context, value, dtype),
                )
            else:
                yield Found(
                    finding=f"mask constant is infinite in {short}",
                    evidence=f"{found.nonfinite} elements are not finite on the way to a Softmax",
                    suggestion="use -1e4 as mask: a row that is masked altogether gives NaN",
                    value=value,
                )


def _reaches_softmax(value: ir.Value) -> bool:
    level, seen = [value], {value}
    for _ in range(_STEPS):
        following: list[ir.Value] = []
        for use in (use for one in level for use in one.uses()):
            if use.node.op_type in _SOFTMAX:
                return True
            if use.node.op_type in _CARRYING:
                following += [result for result in use.node.outputs if result not in seen]
                seen.update(use.node.outputs)
        level = following
    return False


RULE = Rule(
    code="MPG107",
    kind="infinite-mask",
    title="mask constant that becomes -inf",
    severity="warning",
    explanation="""
A constant that masks elements of a Softmax, such as -3.4e38, is beyond the range of float16 and
becomes -inf; or a float16 model has a mask of -inf already. exp(-inf) is 0, as it should be, but in
a row in which every element is masked the maximum is -inf, too, and -inf minus -inf is NaN.

Example: padding of a batch: the rows of padded positions see nothing but masked elements.

Use -1e4: exp(-1e4) is zero in every dtype. mpgraph convert keeps the mask and all that it reaches
up to the Softmax in float32, or clamps it to -65504, which stays a number.
""",
    search=_search,
)
