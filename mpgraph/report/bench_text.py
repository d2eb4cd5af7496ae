"""A benchmark as tables: times, ratios with their intervals, the nodes that take longest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mpgraph.report.units import time_text
from mpgraph.runtime.bench import Bench, Ratio
from mpgraph.runtime.bench.ratio import METHOD

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["render_bench"]

_NODE_NAME = 34


def render_bench(bench: Bench, console: Console, *, nodes: int = 10) -> None:
    """Print what was measured, on what, and how sure it is.

    Args:
        bench: What ``mpgraph.bench`` returned.
        console: Where to print.
        nodes: Show so many of the longest nodes per model; none for 0.
    """
    for line in _basis(bench):
        console.print(Text(line))
    console.print()
    console.print(_times(bench))
    if bench.ratios:
        console.print()
        console.print(_ratios(bench))
        console.print(Text(f"interval: {METHOD}"))
        console.print(_verdict(bench))
    if nodes:
        for label in bench.nodes:
            console.print()
            console.print(_nodes(bench, label, nodes))


def _basis(bench: Bench) -> list[str]:
    where = bench.environment
    cores = f"{where.cores} {'core' if where.cores == 1 else 'cores'}"
    threads = str(where.threads) if where.threads else "as onnxruntime chooses"
    options = ", ".join(f"{name}={value}" for name, value in where.options.items())
    order = ", all models in random order in each" if len(bench.timings) > 1 else ""
    rounds = f"{bench.rounds} {'round' if bench.rounds == 1 else 'rounds'}"
    return [
        f"{where.target} ({where.provider}, onnxruntime {where.onnxruntime}) on "
        f"{where.processor}, {cores}",
        f"threads: {threads}; {options}",
        f"{bench.sessions} sessions of each model, {rounds} per session{order}",
        f"data: {bench.data}",
        *_overrun(bench),
    ]


def _overrun(bench: Bench) -> list[str]:
    if not bench.overran:
        return []
    return [
        f"the runs took {time_text(bench.spent)}, not the {time_text(bench.asked)} asked for: "
        f"{bench.sessions} sessions of each model need no fewer"
    ]


def _times(bench: Bench) -> Table:
    table = _table("time of one run")
    table.add_column("model", overflow="ellipsis", no_wrap=True, max_width=30)
    for head in ("median", "middle half", "best", "load"):
        table.add_column(head, justify="right", no_wrap=True)
    for one in bench.timings:
        table.add_row(
            Text(one.label),
            time_text(one.median),
            f"{time_text(one.low)} - {time_text(one.high)}",
            time_text(one.best),
            time_text(one.load),
        )
    return table


def _ratios(bench: Bench) -> Table:
    table = _table(f"ratios, all within their intervals with {100 * bench.confidence:g} %")
    table.add_column("time of", overflow="ellipsis", no_wrap=True, max_width=22)
    table.add_column("over that of", overflow="ellipsis", no_wrap=True, max_width=22)
    table.add_column("ratio", justify="right", no_wrap=True)
    table.add_column("interval", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for one in bench.ratios:
        interval = f"{one.low:.3f} - {one.high:.3f}"
        table.add_row(Text(one.b), Text(one.a), f"{one.ratio:.3f}", interval, _word(one))
    return table


def _word(ratio: Ratio) -> str:
    if ratio.faster is None:
        return "inside the noise"
    return "faster" if ratio.faster == ratio.b else "slower"


def _verdict(bench: Bench) -> Text:
    if bench.winner is None:
        return Text("no winner: the fastest is not clear of the noise", style="yellow")
    return Text(f"fastest: {bench.winner}", style="green")


def _nodes(bench: Bench, label: str, limit: int) -> Table:
    found = bench.nodes[label]
    table = _table(f"nodes of {label}, the longest {min(limit, len(found))} of {len(found)}")
    table.add_column("node", no_wrap=True)
    table.add_column("op", overflow="ellipsis", no_wrap=True, max_width=18)
    table.add_column("provider", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    for one in found[:limit]:
        provider = one.provider.removesuffix("ExecutionProvider")
        share = f"{100 * one.share:.0f} %"
        table.add_row(
            Text(_tail(one.name)), Text(one.op_type), provider, time_text(one.seconds), share
        )
    return table


def _tail(name: str) -> str:
    # Names of one model mostly begin alike.
    return name if len(name) <= _NODE_NAME else f"...{name[3 - _NODE_NAME :]}"


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
