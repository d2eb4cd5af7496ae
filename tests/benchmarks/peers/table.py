"""The results as tables that fit a screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mpgraph.report.units import sqnr_text
from tests.benchmarks.peers.comparison import Better, where_others_are_better
from tests.benchmarks.peers.growth import Growth, growths
from tests.benchmarks.peers.result import Result
from tests.benchmarks.peers.subjects import LADDERS, REAL_SUITES

__all__ = ["print_results"]

_VERDICTS = {"right": "right", "wrong values": "wrong", "untouched": "same", "broken": "broken"}
_STYLES = {"right": "green", "wrong": "yellow", "same": "yellow", "broken": "red"}
_SHORT = {
    "onnxconverter-common": "OCC",
    "onnxruntime-float16": "ORT",
    "onnxruntime-static": "ORT",
    "onnxruntime-dynamic": "ORT",
    "onnxruntime-nbits": "ORT",
    "modelopt": "MO",
}
_QUANTIZED = ("int8", "int4", "matmuls", "weights-int4")
_DETAIL = 160
# Columns for a label on the narrowest screen.
_FEWEST = 22


def print_results(results: Sequence[Result], environment: dict[str, Any], console: Console) -> None:
    """Print one table per suite, a summary per tool, and where others are better."""
    if not results:
        console.print("no results")
        return
    console.print(Text(_machine(environment)))
    suites = dict.fromkeys(result.suite for result in results)
    for suite in suites:
        own = [result for result in results if result.suite == suite]
        console.print()
        if suite == "nodes":
            _print_nodes(own, console)
            continue
        console.print(_cells(suite, own, console.width))
        _print_failures(own, console)
        console.print()
        if suite in LADDERS:
            _print_growth(growths(own), console)
        else:
            console.print(_summary(suite, own))
    real = [one for one in results if one.suite in REAL_SUITES]
    if real:
        _print_better(where_others_are_better(real), console)


def _cells(suite: str, results: Sequence[Result], width: int) -> Table:
    is_quantized = suite in _QUANTIZED
    targets = list(dict.fromkeys(name for result in results for name in result.latency))
    heads = ("Q/DQ", "orph") if is_quantized else ("casts", "MB", "off")
    heads = ("", *heads, "size", "dB", "s", "peak", *(f"x {name}" for name in targets))
    rows: list[tuple[str, list[str]]] = []
    for result in sorted(results, key=_order(results)):
        shown = _quantizers(result) if is_quantized else _casts(result)
        ratios = [_ratio(result, name) for name in targets]
        cells = [_VERDICTS[result.verdict], *shown, *_costs(result), *ratios]
        rows.append((result.model, [_label(result), *cells]))
    table = _table(suite)
    table.add_column("tool, policy", no_wrap=True)
    taken = 0
    for at, head in enumerate(heads):
        widest = max(len(head), *(len(row[1 + at]) for _, row in rows))
        taken += widest + 1
        table.add_column(head, justify="right" if at else "left", no_wrap=True, min_width=widest)
    room = max(_FEWEST, width - taken - 1)
    model = ""
    for name, (label, verdict, *cells) in rows:
        if name != model:
            model = name
            table.add_row(Text(_cut(model, room), style="bold"))
        styled = Text(verdict, style=_STYLES[verdict])
        table.add_row(Text(_cut(f"  {label}", room)), styled, *cells)
    return table


def _print_failures(results: Sequence[Result], console: Console) -> None:
    failures: dict[tuple[str, str], list[str]] = {}
    for result in results:
        if result.verdict == "broken":
            text = f"{result.stage}: {result.detail}"
            failures.setdefault((_label(result), text), []).append(result.model)
    for (label, text), models in failures.items():
        line = f"{label}, {text}" if len(text) <= _DETAIL else f"{label}, {text[:_DETAIL]}…"
        console.print(Text(f"broken: {line} ({', '.join(models)})"))


def _order(results: Sequence[Result]) -> Any:
    models = list(dict.fromkeys(result.model for result in results))
    return lambda result: models.index(result.model)


def _casts(result: Result) -> tuple[str, str, str]:
    moved = result.cast_bytes_added
    return (
        _signed(result.casts_added),
        "" if moved is None else f"{moved / 1e6:.2f}",
        _signed(result.off_target_added),
    )


def _quantizers(result: Result) -> tuple[str, str]:
    if result.q_dq is None:
        return "", ""
    return f"{result.fused}/{result.q_dq}", str(result.orphans)


def _costs(result: Result) -> tuple[str, str, str, str]:
    size = ""
    if result.size_after is not None and result.size_before:
        size = f"{100 * result.size_after / result.size_before:.0f}%"
    noise = "" if result.least_db is None else sqnr_text(result.least_db)
    mark = "" if result.emulated is not False or result.suite != "float16" else "*"
    seconds = "" if result.seconds is None else f"{result.seconds:.3g}"
    peak = "" if result.peak_bytes is None else f"{result.peak_bytes / 1e6:.0f}"
    return size, f"{noise}{mark}", seconds, peak


def _ratio(result: Result, target: str) -> str:
    if target not in result.latency:
        return ""
    one = result.latency[target]
    unsure = one.low <= 1 <= one.high
    return f"{'~' if unsure else ''}{one.ratio:.2f}"


def _summary(suite: str, results: Sequence[Result]) -> Table:
    table = _table(f"{suite}: all models")
    table.add_column("tool, policy", no_wrap=True)
    inserted = "orph" if suite in _QUANTIZED else "casts"
    for head in ("right", "wrong", "same", "broken", "dB", inserted, "latency"):
        table.add_column(head, justify="right", no_wrap=True)
    for label, group in _by_label(results).items():
        verdicts = Counter(result.verdict for result in group)
        right = [result for result in group if result.verdict == "right"]
        noise = [one for result in right if (one := result.least_db) is not None]
        ratios = [one.ratio for result in right for one in result.latency.values()]
        table.add_row(
            Text(label),
            str(verdicts["right"]),
            *(str(verdicts[name]) for name in ("wrong values", "untouched", "broken")),
            sqnr_text(median(noise)) if noise else "",
            str(sum(result.orphans or 0 for result in right))
            if suite in _QUANTIZED
            else _signed(sum(result.casts_added or 0 for result in right)),
            f"x{float(np.exp(np.mean(np.log(ratios)))):.2f}" if ratios else "",
        )
    return table


def _print_growth(found: Sequence[Growth], console: Console) -> None:
    table = _table("growth")
    table.add_column("tool, policy", no_wrap=True)
    for head in ("sizes", "right", "largest", "s ~ size^", "peak, most/least"):
        table.add_column(head, justify="right", no_wrap=True)
    for one in found:
        numbers = (f"{one.largest:,}", f"{one.exponent:.2f}", f"{one.memory_ratio:.2f}")
        table.add_row(Text(_named(one.tool, one.policy)), str(one.rungs), str(one.right), *numbers)
    console.print(table)


def _print_nodes(results: Iterable[Result], console: Console) -> None:
    for result in results:
        console.print(Text(f"{_label(result)}: {result.detail}"), soft_wrap=True)


def _print_better(found: Sequence[Better], console: Console) -> None:
    console.print()
    if not found:
        console.print("No other tool is better than mpgraph in a cell.")
        return
    table = _table(f"Another tool is better than mpgraph's best in {len(found)} cells")
    for head in ("model", "cell", "mpgraph", "other", "by"):
        table.add_column(head, overflow="fold")
    for one in found:
        row = (one.model, one.cell, one.own, one.theirs, _label(one.other))
        table.add_row(*map(Text, row))
    console.print(table)


def _by_label(results: Sequence[Result]) -> dict[str, list[Result]]:
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(_label(result), []).append(result)
    return groups


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _label(result: Result) -> str:
    return _named(result.tool, result.policy)


def _named(tool: str, policy: str) -> str:
    return f"{_SHORT.get(tool, tool)} {policy.replace('_from_float32', '')}"


def _signed(count: int | None) -> str:
    return "" if count is None else f"{count:+d}" if count else "0"


def _machine(environment: dict[str, Any]) -> str:
    versions = environment.get("versions", {})
    packages = ", ".join(f"{name} {version}" for name, version in versions.items())
    return (
        f"{environment.get('date')}, {environment.get('processor')}, "
        f"{environment.get('cores')} cores; {packages}"
    )


def _table(title: str) -> Table:
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
