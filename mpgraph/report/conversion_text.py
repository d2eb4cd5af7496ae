"""A conversion on one screen: what changed, what stayed wide and why, what was checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from rich.table import Table
from rich.text import Text

from mpgraph import ir
from mpgraph.plan import Plan
from mpgraph.report.conversion import ConversionReport, Inventory
from mpgraph.report.kept import Kept, kept_nodes, node_assignments
from mpgraph.report.quantization_text import account_line, bias_line, quantization_lines
from mpgraph.report.scaling_text import scaling_summary
from mpgraph.report.units import byte_text, error_text, node_text, ratio_text, sqnr_text
from mpgraph.runtime.checks import Checked
from mpgraph.runtime.compare import Comparison

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["render_conversion"]

_SCREEN = 22
"""Lines of a summary at most, so that a prompt and what the command adds fit on 24."""
_REASONS = (2, 6)
_WARNINGS = 2
_NOTABLE = 1e-2
_DTYPES = ("float32", "float16", "bfloat16", "float64")
_LOW = frozenset(("float16", "bfloat16"))


class _Result(Protocol):
    """What is read of a ``Conversion``, which this package cannot import."""

    @property
    def model(self) -> ir.Model: ...
    @property
    def plan(self) -> Plan: ...
    @property
    def report(self) -> ConversionReport: ...


def render_conversion(result: _Result, console: Console) -> None:
    """Print the summary of a conversion, which fits a screen of 80 columns by 24 lines.

    The text is ASCII and says in words what it also says in colour.

    Args:
        result: What ``mpgraph.convert`` returned.
        console: Where to print; its width is kept.
    """
    plan, report = result.plan, result.report
    quantization = report.quantization
    above: list[Table | Text] = [
        _title(plan),
        Text(),
        _changes(report, added_casts(plan, result.model)),
        *map(Text, filter(None, [scaling_summary(plan)])),
        Text(),
    ]
    below: list[Table | Text] = [
        *(Text(f"warning: {text}", style="yellow") for text in _warnings(report)),
        Text(),
        _checks(report, plan),
    ]
    lines = filter(None, [bias_line(report.biases), account_line(report.quantizers)])
    below[:0] = map(Text, lines)
    used = sum(len(console.render_lines(part, pad=False)) for part in (*above, *below))
    room, width = _SCREEN - used - 1, console.width
    between: list[Text] = []
    if quantization is not None:
        between.extend(quantization_lines(quantization, room, width))
        room -= len(between) + 1
    if quantization is None or not _is_all_wide(report):
        between.extend(_kept(plan, room, width))
    for part in (*above, *between, *below):
        console.print(part)


def _is_all_wide(report: ConversionReport) -> bool:
    """Whether no node got a lower float dtype."""
    return not any(one.dtype != one.before for one in report.plan.assignments)


def added_casts(plan: Plan, model: ir.Model) -> int:
    """How many Cast nodes of a converted model were not in the model that was planned."""
    planned = {one.name for one in plan.assignments if one.op_type == "Cast"}
    return sum(
        1
        for node in ir.nodes(model)
        if (node.domain, node.op_type) == ("", "Cast")
        and ir.origin(node) is not None
        and node.name not in planned
    )


def _title(plan: Plan) -> Text:
    evidence = (
        "decided on the graph and on measured value ranges"
        if plan.evidence == "measured"
        else "decided on static evidence only: no data was given"
    )
    return Text.assemble((f"{plan.policy} for {plan.target}", "bold"), f", {evidence}")


def _changes(report: ConversionReport, added: int) -> Table:
    before, after, costs = report.before, report.after, report.plan.costs
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    table.add_column("before", justify="right", no_wrap=True)
    table.add_column("after", justify="right", no_wrap=True, style="bold")
    table.add_column("", style="dim")
    for label, key in _node_rows(before, after):
        table.add_row(label, str(before.nodes.get(key, 0)), str(after.nodes.get(key, 0)))
    removed = before.casts + added - after.casts
    table.add_row(
        "Cast nodes", str(before.casts), str(after.casts), f"{added} added, {removed} removed"
    )
    if before.quantizers or after.quantizers:
        table.add_row("Q/DQ nodes", str(before.quantizers), str(after.quantizers))
    table.add_row(
        "weights",
        byte_text(before.total_bytes),
        byte_text(after.total_bytes),
        _share(after.total_bytes, before.total_bytes),
    )
    if report.quantization is not None and _is_all_wide(report):
        return table
    table.add_row(
        "bytes moved",
        byte_text(costs["original"]),
        byte_text(costs["planned"]),
        f"{_share(costs['planned'], costs['original'])}, by the cost model".removeprefix(", "),
    )
    return table


def _node_rows(before: Inventory, after: Inventory) -> Iterator[tuple[str, str]]:
    present = {*before.nodes, *after.nodes}
    for dtype in (*_DTYPES, *sorted(present - {*_DTYPES, "other"})):
        if dtype in present:
            yield f"{dtype} nodes", dtype
    if "other" in present:
        yield "nodes without floats", "other"


def _share(after: int, before: int) -> str:
    if after == before:
        return "unchanged"
    share = ratio_text(after, before)
    return f"{share} of before" if share else ""


def _kept(plan: Plan, room: int, width: int) -> Iterator[Text]:
    """What stayed wide: a title, and about ``room`` lines of reasons."""
    kept = kept_nodes(plan)
    total = len(node_assignments(plan))
    if not kept:
        yield Text("No float node stayed in float32." if total else "There are no float nodes.")
        return
    dtypes = " and ".join(dict.fromkeys(one.dtype for one in kept))
    count = sum(one.nodes for one in kept)
    yield Text(f"Stayed in {dtypes}: {count} of {node_text(total)}", style="bold")
    for nodes, reason in _reasons(kept, min(max(room, _REASONS[0]), _REASONS[1])):
        yield Text(_cropped(f"{nodes:>5}  {reason}", width))


def _reasons(kept: tuple[Kept, ...], limit: int) -> Iterator[tuple[int, str]]:
    shown = kept if len(kept) <= limit else kept[: limit - 1]
    for one in shown:
        sign = "e.g. " if one.nodes > 1 else ""
        yield one.nodes, f"{one.reason} ({sign}{one.example})" if one.example else one.reason
    rest = kept[len(shown) :]
    if rest:
        yield sum(one.nodes for one in rest), f"for {len(rest)} other reasons (--json has all)"


def _cropped(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3].rstrip()}..."


def _warnings(report: ConversionReport) -> Iterator[str]:
    comparison = report.checked.comparison
    if comparison is not None and comparison.max_relative > _NOTABLE:
        yield (
            f"an output is off by more than {_NOTABLE:.0%} of its range; "
            "mpgraph verify --emulate --per-layer shows where it begins"
        )
    costs = report.plan.costs
    if costs["planned"] > costs["original"]:
        yield "by the cost model the casts cost more than the low dtype saves on this model"
    warnings = report.warnings
    yield from warnings[:_WARNINGS]
    if len(warnings) > _WARNINGS:
        yield f"and {len(warnings) - _WARNINGS} more warnings (--json has all)"


def _checks(report: ConversionReport, plan: Plan) -> Table:
    checked = report.checked
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for label, style, lines in (
        ("Checked", "green", tuple(_done(checked, bool(_LOW & set(report.after.nodes))))),
        ("Not checked", "yellow", tuple(_left_out(checked, plan))),
    ):
        for index, line in enumerate(lines):
            table.add_row(Text(label if index == 0 else "", style=style), Text(line))
    return table


def _done(checked: Checked, has_low: bool) -> Iterator[str]:
    parts = ["structure after every pass"]
    if checked.valid:
        parts.append("ONNX's full checker")
    if checked.loaded:
        parts.append(f"loads on {checked.loaded}")
    yield ", ".join(parts)
    if checked.comparison is not None:
        yield from _compared(checked.comparison, has_low)


def _compared(comparison: Comparison, has_low: bool) -> Iterator[str]:
    worst = comparison.worst
    if worst is None:
        return
    text = "outputs: no difference"
    if worst.max_relative:
        lowest = min(output.sqnr_db for output in comparison.outputs)
        text = f"outputs: worst error {error_text(worst.max_relative)} of the range"
        text += f" of {worst.name!r}, " if len(comparison.outputs) > 1 else ", "
        text += f"lowest SQNR {sqnr_text(lowest)} dB"
    if comparison.mismatches:
        text += f", {comparison.mismatches} integer or boolean elements differ"
    yield text
    samples = f"{worst.samples} sample" if worst.samples == 1 else f"{worst.samples} samples"
    rounded = "; low dtypes rounded as a GPU would" if has_low else ""
    yield f"({samples} of {comparison.label}{rounded})"


def _left_out(checked: Checked, plan: Plan) -> Iterator[str]:
    if checked.valid is None:
        yield "ONNX's full checker, loading and outputs: only the structure was asked for"
        return
    if not checked.valid:
        yield "ONNX's full checker: the original does not pass it either"
    if not checked.loaded:
        yield f"loading on {plan.target}: {checked.not_loaded}"
    if checked.comparison is None:
        yield "outputs: no data was given, or less than a full check was asked for"
