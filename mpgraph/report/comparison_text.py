"""A comparison of two models as tables: per output, and the layers that are worst."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mpgraph.report.units import cosine_text, error_text, sqnr_text
from mpgraph.runtime.compare import Comparison
from mpgraph.runtime.differences import Difference

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["describe_layer", "render_comparison", "trouble_text", "worst_layers"]

_JUMP = 10.0


def render_comparison(
    comparison: Comparison,
    console: Console,
    *,
    failed: Collection[str] = (),
    layers: int | None = None,
    limit: float = 1e-2,
) -> None:
    """Print the error of every output, and of the layers that were compared.

    Layers stand in graph order, so that one can see where an error begins; a layer that is ten
    times worse than all before it is marked.

    Args:
        comparison: What ``mpgraph.verify`` returned.
        console: Where to print.
        failed: The names of outputs that are further away than allowed.
        layers: Show so many of the worst layers at most; all by default.
        limit: A layer further away than this, relative to its range, diverges.
    """
    if comparison.layers:
        shown = worst_layers(comparison.layers, layers)
        marks = _jumps(comparison.layers)
        title = f"layers, {len(shown)} of {len(comparison.layers)}, in graph order"
        console.print(_table(title, shown, marks))
        console.print(Text(_divergence(comparison, limit)))
        if comparison.not_compared:
            count = len(comparison.not_compared)
            console.print(Text(f"float values of a that b does not have under their name: {count}"))
        console.print()
    verdicts = {one.name: "differs" if one.name in failed else "ok" for one in comparison.outputs}
    console.print(_table("outputs", comparison.outputs, verdicts))
    console.print(Text(f"data: {comparison.label}"))
    if failed:
        console.print(
            Text(f"{len(failed)} of {len(comparison.outputs)} outputs differ", style="bold red")
        )
    else:
        console.print(Text("all outputs are within tolerance", style="green"))


def _table(title: str, rows: Sequence[Difference], marks: dict[str, str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("name", overflow="ellipsis", no_wrap=True, max_width=32)
    for head in ("max abs", "of range", "SQNR dB", "cosine"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for one in rows:
        table.add_row(*_row(one, marks.get(one.name, "")))
    return table


def describe_layer(layer: Difference) -> str:
    """A layer as text: its name, its operator, the node where that has another name."""
    made = " ".join(filter(None, (layer.op_type, "" if layer.node == layer.name else layer.node)))
    return f"{layer.name} ({made})" if made else layer.name


def _divergence(comparison: Comparison, limit: float) -> str:
    first = comparison.first_divergence(limit)
    if first is None:
        return f"no layer is off by more than {limit:g} of its range"
    trouble = trouble_text(first) or f"{error_text(first.max_relative)} of its range"
    return f"first layer that diverges: {describe_layer(first)}: {trouble}"


def _row(one: Difference, mark: str) -> tuple[Text, str, str, str, str, Text]:
    notes = ", ".join(filter(None, (mark, trouble_text(one))))
    style = "red" if one.error or mark == "differs" else ""
    if one.error:
        return Text(one.name), "-", "-", "-", "-", Text(notes, style=style)
    return (
        Text(one.name),
        error_text(one.max_abs),
        error_text(one.max_relative),
        sqnr_text(one.sqnr_db),
        cosine_text(one.cosine),
        Text(notes, style=style),
    )


def trouble_text(one: Difference) -> str:
    """What keeps two values from being compared number by number; empty for nothing."""
    if one.error:
        return one.error
    counts = (
        (one.nan_a or one.nan_b, f"NaN {one.nan_a} -> {one.nan_b}"),
        (one.inf_a or one.inf_b, f"Inf {one.inf_a} -> {one.inf_b}"),
        (one.mismatches, f"{one.mismatches} unequal"),
    )
    return ", ".join(text for there, text in counts if there)


def worst_layers(layers: Sequence[Difference], limit: int | None) -> Sequence[Difference]:
    """The ``limit`` layers with the largest error, in graph order; all for None."""
    if limit is None or len(layers) <= limit:
        return layers
    order = sorted(range(len(layers)), key=lambda index: -layers[index].max_relative)
    return [layers[index] for index in sorted(order[:limit])]


def _jumps(layers: Sequence[Difference]) -> dict[str, str]:
    marks: dict[str, str] = {}
    worst = 0.0
    for one in layers:
        if worst > 0 and _JUMP * worst <= one.max_relative < math.inf:
            marks[one.name] = f"{one.max_relative / worst:.0f} x worse than all before"
        worst = max(worst, one.max_relative)
    return marks
