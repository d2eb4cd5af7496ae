"""Targets on a terminal: what is installed, what has kernels, and how sessions are created."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mpgraph.report.target_facts import TargetFacts

if TYPE_CHECKING:
    from rich.console import Console

    from mpgraph.runtime.trial import Trial

__all__ = ["render_target", "render_targets"]

_SHORT = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}


def render_targets(
    rows: Sequence[TargetFacts], device: Mapping[str, str], console: Console
) -> None:
    """Print one line per target, then what the processors of this machine are."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("target", "installed here", *(f"{short} ops" for short in _SHORT.values())):
        table.add_column(name, justify="right" if name.endswith("ops") else "left", no_wrap=True)
    for row in rows:
        cells = (row.name, _installed(row), *(_kernels(row, name) for name in _SHORT))
        # Text, or the brackets of an extra would be read as markup.
        table.add_row(*map(Text, cells))
    console.print(table)
    console.print()
    _print_pairs(device.items(), console)
    console.print("`mpgraph targets NAME` shows kernels, settings, and what really runs here.")


def render_target(
    row: TargetFacts, device: Mapping[str, str], trials: Sequence[Trial], console: Console
) -> None:
    """Print everything that is known of one target."""
    console.print(Text(row.name, style="bold"))
    _print_pairs(_facts(row, trials), console)
    _print_pairs(device.items(), console)


def _facts(row: TargetFacts, trials: Sequence[Trial]) -> Iterator[tuple[str, str]]:
    yield "provider", row.provider
    yield "installed", ", ".join((*row.runtime, *filter(None, [row.plugin]))) or "nothing"
    if row.missing:
        yield "missing", f"{row.missing}: pip install '{row.extra}'"
    yield "kernels", f"of {row.kernels_of}, {row.source}"
    for name, count in row.kernels.items():
        yield "", f"{name}: {count} operators{'; no MatMul' * (name in row.slow_dtypes)}"
    if row.compiled_dtypes:
        listed = " and ".join(row.compiled_dtypes)
        yield "", f"its graph compiler takes more than that table, {listed} among it"
    yield "float16", f"matrix products and convolutions are summed up in {row.accumulator}"
    if row.stepwise:
        yield "", f"in several steps, each of which rounds: {', '.join(row.stepwise)}"
    for index, trial in enumerate(trials):
        told = "runs" if trial.ran else f"does not run so: {trial.problem}"
        yield "" if index else "tried here", f"MatMul in {trial.dtype} {told}"
    for index, setting in enumerate(row.settings):
        yield "" if index else "settings", f"{setting.name} = {setting.value}"
        yield "", f"  {setting.effect}"


def _installed(row: TargetFacts) -> str:
    if row.missing:
        return f"no: pip install '{row.extra}'"
    return row.plugin or ", ".join(row.runtime)


def _kernels(row: TargetFacts, name: str) -> str:
    if name in row.compiled_dtypes:
        return "compiled"
    count = str(row.kernels[name])
    return f"{count}*" if name in row.slow_dtypes else count


def _print_pairs(pairs: Iterable[tuple[str, str]], console: Console) -> None:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in pairs:
        table.add_row(Text(f"  {label}" if label else "", style="dim"), Text(text))
    console.print(table)
