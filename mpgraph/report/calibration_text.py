"""A calibration on one screen: what was seen, the widest ranges, and the odd ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mpgraph.quant.calibration import Calibration
from mpgraph.report.calibration import RangeLine, range_lines
from mpgraph.report.units import count_text

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["render_calibration"]

_NAME = 44


def render_calibration(calibration: Calibration, console: Console, *, rows: int = 6) -> None:
    """Print what was observed.

    Args:
        calibration: What ``mpgraph.calibrate`` returned.
        console: Where to print.
        rows: Show so many of the widest ranges, and of those that are odd.
    """
    lines = range_lines(calibration)
    for text in _facts(calibration, lines):
        console.print(Text(text), soft_wrap=True)
    odd = [line for line in lines if line.notes]
    odd.sort(key=lambda line: (-len(line.left_out), -line.nonfinite, -line.width))
    wide = sorted((line for line in lines if not line.notes), key=lambda line: -line.width)
    for title, chosen in (("odd ranges", odd), ("widest ranges", wide)):
        if chosen:
            console.print()
            console.print(_table(title, chosen, rows))


def _facts(calibration: Calibration, lines: Iterable[RangeLine]) -> Iterator[str]:
    lines = list(lines)
    samples = "1 sample" if calibration.samples == 1 else f"{calibration.samples} samples"
    yield f"data: {calibration.label}, {samples}"
    shared = len(calibration.aliases)
    more = f", and {shared} more that hold the same elements" if shared else ""
    yield f"ranges by {calibration.observer.label}: {_tensors(len(lines))}{more}"
    elements = sum(line.elements for line in lines)
    skipped = sum(line.nonfinite for line in lines)
    hit = sum(line.nonfinite > 0 for line in lines)
    yield f"elements: {count_text(elements)}; NaN or infinite, skipped: {_in(skipped, hit)}"
    masks = sum(mask.count for line in lines for mask in line.left_out)
    yield f"mask values left out: {_in(masks, sum(bool(line.left_out) for line in lines))}"
    without = dict(calibration.missing)
    known = {line.name for line in lines}
    without |= dict.fromkeys(calibration.accumulators.keys() - known, "was always empty")
    if without:
        name, reason = next(iter(without.items()))
        rest = f", and {len(without) - 1} others" if len(without) > 1 else ""
        yield f"without a range: {name} ({reason}){rest}"


def _tensors(count: int) -> str:
    return "1 tensor" if count == 1 else f"{count} tensors"


def _in(count: int, tensors: int) -> str:
    return f"{count_text(count)} in {_tensors(tensors)}" if count else "none"


def _table(title: str, lines: list[RangeLine], rows: int) -> Table:
    left = len(lines) - rows
    table = Table(
        title=f"{title} ({len(lines)})" if left > 0 else title,
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    table.add_column("value", overflow="ellipsis", no_wrap=True, max_width=_NAME)
    table.add_column("low", justify="right", no_wrap=True)
    table.add_column("high", justify="right", no_wrap=True)
    table.add_column("", overflow="ellipsis", no_wrap=True)
    for line in lines[:rows]:
        notes = Text("; ".join(line.notes))
        table.add_row(Text(line.name), f"{line.low:.5g}", f"{line.high:.5g}", notes)
    return table
