"""Why a node has its dtype: the reasons in the order in which they were tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types
from mpgraph.plan import Assignment, Plan
from mpgraph.quant import QuantizationPlan
from mpgraph.report.quantization_text import quantization_facts
from mpgraph.report.scaling_text import factor_lines

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["render_explanation"]

_Casts = dict[tuple[str, str], list[str]]
"""Lines about the casts around nodes, by the node's name and op type."""

_CALLERS = 4
"""More nodes than these that call one body are only counted."""

_STAGES = {
    "schema": "the operator's schema",
    "policy": "the policy",
    "rule": "a rule",
    "numerics": "numerics",
    "target": "the target",
    "placement": "cast placement",
}


def render_explanation(
    assignments: Sequence[Assignment],
    plan: Plan,
    console: Console,
    model: ir.Model | None = None,
    quantization: QuantizationPlan | None = None,
) -> None:
    """Print why nodes have their dtypes: what decided, what was overruled, the casts around them.

    With a quantization plan also in which form they are quantized, and on what scales.

    Args:
        assignments: The nodes to explain.
        plan: The plan that they are from.
        console: Where to print.
        model: The converted model; without it the casts around a node are not shown.
        quantization: What was quantized.
    """
    casts = {} if model is None else _casts_by_node(assignments, model)
    for index, one in enumerate(assignments):
        if index:
            console.print()
        console.print(_head(one))
        lines = () if quantization is None else tuple(quantization_facts(one, quantization))
        console.print(_facts(one, plan, casts.get((one.name, one.op_type), ()), lines))


def _head(one: Assignment) -> Text:
    change = one.dtype if one.before == one.dtype else f"{one.before} -> {one.dtype}"
    label = one.name or one.key
    kind = f" ({one.op_type})" if one.op_type else ""
    return Text.assemble((f"{label}{kind}", "bold"), f": {change}")


def _facts(
    one: Assignment, plan: Plan, casts: Sequence[str], quantized: Sequence[tuple[str, str]]
) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in (*quantized, *_rows(one, plan, casts)):
        table.add_row(Text(f"  {label}", style="dim"), Text(text))
    return table


def _rows(one: Assignment, plan: Plan, casts: Sequence[str]) -> Iterator[tuple[str, str]]:
    rule = f", {one.rule}" if one.rule else ""
    yield "because", f"{one.reason} ({_STAGES.get(one.stage, one.stage)}{rule})"
    for lost in reversed(one.overruled):
        yield "instead of", lost
    yield "policy", f"{plan.policy} for {plan.target}, {plan.evidence} evidence"
    if one.stored != one.dtype:
        yield "weights", f"stored in {one.stored}, computed in {one.dtype}"
    for line in casts:
        yield "cast", line
    for line in factor_lines(plan, one.key):
        yield "scaled", line
    if one.scope:
        yield "scope", one.scope
    callers = plan.callers(one.key)
    if callers:
        more = f" and {len(callers) - _CALLERS} more" if len(callers) > _CALLERS else ""
        yield "called by", ", ".join(callers[:_CALLERS]) + more
    yield "key", f"{one.key}, type variables {', '.join(one.variables) or 'none'}"


def _casts_by_node(assignments: Sequence[Assignment], model: ir.Model) -> _Casts:
    wanted = {(one.name, one.op_type) for one in assignments if one.name}
    found: _Casts = {}
    if not wanted:
        return found
    flow = infer_types(model)
    for node in ir.nodes(model):
        if (node.name, node.op_type) in wanted:
            found.setdefault((node.name or "", node.op_type), []).extend(_casts_of(node, flow))
    return found


def _casts_of(node: ir.Node, flow: TypeFlow) -> Iterator[str]:
    for index, value in enumerate(node.inputs):
        producer = None if value is None else value.producer()
        if producer is not None and _is_cast(producer):
            yield f"before input {index}: {_change(producer, flow)} of {_name(producer.inputs[0])}"
    for index, value in enumerate(node.outputs):
        for consumer in dict.fromkeys(use.node for use in value.uses()):
            if _is_cast(consumer):
                result = consumer.outputs[0]
                takers = len(tuple(result.uses())) + result.is_graph_output()
                times = "once" if takers == 1 else f"{takers} times"
                yield f"behind output {index}: {_change(consumer, flow)}, taken {times}"


def _is_cast(node: ir.Node) -> bool:
    return (node.domain, node.op_type) == ("", "Cast")


def _change(cast: ir.Node, flow: TypeFlow) -> str:
    dtypes = (flow.dtype(cast.inputs[0]), flow.dtype(cast.outputs[0]))
    return " -> ".join("unknown" if one is None else ir.dtype_name(one) for one in dtypes)


def _name(value: ir.Value | None) -> str:
    return "nothing" if value is None else value.name or "an unnamed value"
