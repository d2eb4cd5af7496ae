"""MPG105: integers that pass through a float type without enough digits for them."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.analysis.cast_pairs import is_cast
from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.numeric import from_hazard
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]


def _search(context: Context) -> Iterator[Found]:
    yield from _constants(context)
    seen: set[ir.Value | None] = set()
    for hazard in context.hazards("measured-integer", "integer-path", "rounded-to-integer"):
        value = hazard.subject
        # A path of integers is told where it begins.
        if value in seen or (hazard.kind == "integer-path" and not _begins_path(context, value)):
            continue
        seen.add(value)
        yield from_hazard(context, hazard)


def _begins_path(context: Context, value: ir.Value | None) -> bool:
    node = None if value is None else value.producer()
    if node is None or not is_cast(node):
        return node is not None and node.op_type == "Range"
    dtype = context.subject.flow.dtype(node.inputs[0])
    return dtype is not None and dtype.is_integer()


def _constants(context: Context) -> Iterator[Found]:
    """Integer constants that are cast to a float type which does not have them."""
    flow = context.subject.flow
    for value, found in context.weights.ranges.items():
        source = context.weights.tensors[value].dtype
        for use in value.uses() if source.is_integer() else ():
            target = flow.dtype(use.node.outputs[0]) if is_cast(use.node) else None
            if use.idx != 0 or target not in ir.FLOATS:
                continue
            largest = 2 / ir.limits(target).epsilon
            if found.amax > largest:
                name = ir.dtype_name(target)
                yield Found(
                    finding=f"integer routed through {name}, which cannot hold it",
                    evidence=f"integers up to {found.amax:.0f}, exact up to {largest:.0f}",
                    suggestion=f"compute with {value.name!r} in integers, or cast it to float64",
                    value=value,
                    node=use.node,
                )


RULE = Rule(
    code="MPG105",
    kind="integer-in-float",
    title="integer routed through a float type that cannot hold it",
    severity="warning",
    explanation="""
Positions, lengths, indices or token numbers are computed in a float type. All integers are exact up
to 2048 in float16, 256 in bfloat16 and 16777216 in float32; beyond, neighbours become one number.

Example: the positions 2048, 2049, 2050 of a sequence are 2048, 2048, 2050 in float16, so that two
tokens get the same rotary embedding.

In a float32 model this is mostly a note on what a conversion would do: mpgraph convert keeps such
paths in float32 up to where they are no longer integers. Constants that are too large for the float
type that the model casts them to are wrong already: compute with them in integers.
""",
    search=_search,
)
