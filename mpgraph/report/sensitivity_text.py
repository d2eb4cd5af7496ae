"""What stays in float so that the outputs keep within an error, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from mpgraph.quant.sensitivity import KeptNode, Latency, Sensitivity
from mpgraph.report.units import error_text, time_text

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["render_sensitivity", "sensitivity_lines"]

_SHOWN = 5


def render_sensitivity(found: Sensitivity | None, console: Console) -> None:
    """Print what a search kept in float and why; nothing where none was asked for."""
    if found is None:
        return
    for index, line in enumerate(sensitivity_lines(found)):
        text = line if len(line) <= console.width else f"{line[: console.width - 3].rstrip()}..."
        console.print(Text(text, style="bold" if index == 0 else ""))


def sensitivity_lines(found: Sensitivity, shown: int = _SHOWN) -> Iterator[str]:
    """The lines.

    Args:
        found: What a search found.
        shown: How many of the nodes that stay in float are listed.
    """
    yield (
        f"Largest error {found.limit:g}: {found.quantized} of {found.quantizable} nodes quantized, "
        f"error {error_text(found.error)} of the range (all: {error_text(found.everything)})"
    )
    for node in found.kept[:shown]:
        yield _node_line(node)
    rest = len(found.kept) - shown
    if rest > 0:
        yield f"  and {rest} more (--json has all)"
    cost = f"{found.builds} builds, {found.runs} runs, {time_text(found.seconds)}"
    yield f"  {_latency_text(found.latency)}; found with {cost}"


def _node_line(node: KeptNode) -> str:
    error = "" if node.error is None else f"{error_text(node.error)} {_measured(node)}"
    gain = "" if node.gain is None else f"{_change(node.gain)} quantized"
    facts = ", ".join(filter(None, (error, gain))) or node.reason
    return f"  float: {node.name or node.key} ({node.op_type}): {facts}"


def _measured(node: KeptNode) -> str:
    return "alone" if node.together == 1 else f"with {node.together - 1} more"


def _change(gain: float) -> str:
    return f"{time_text(abs(gain))} {'faster' if gain > 0 else 'slower'}"


def _latency_text(latency: Latency | None) -> str:
    if latency is None:
        return "its time was not measured"
    return (
        f"takes x{latency.ratio:.2f} of the time in float "
        f"(x{latency.low:.2f} to x{latency.high:.2f})"
    )
