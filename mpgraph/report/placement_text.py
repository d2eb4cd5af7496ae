"""The placement of a model on a terminal: how many nodes run where, and which are elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mpgraph.report.units import node_text
from mpgraph.runtime.placement import NodePlacement, Placement

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["placement_lines", "render_placement"]

_SHOWN = 20


def render_placement(placement: Placement, console: Console) -> None:
    """Print the totals, then the nodes that run elsewhere, or not where they were expected."""
    for line in placement_lines(placement):
        console.print(Text(line))
    _print_nodes("not where the kernels promise", placement.unexpected, console)
    rest = [node for node in placement.elsewhere if node.as_expected]
    _print_nodes(f"not on {placement.provider}", rest, console)


def placement_lines(placement: Placement) -> Iterator[str]:
    """Return what there is to say about all nodes together."""
    counts = Counter(provider for node in placement.nodes for provider in node.providers)
    for provider in sorted(counts, key=lambda name: (name != placement.provider, name)):
        yield f"{provider}: {node_text(counts[provider])}"
    states = Counter(node.state for node in placement.nodes)
    idle = states["folded"] + states["removed"]
    if idle:
        yield f"while loading: {node_text(idle)}"
    inserted = Counter(kernel.inserted for kernel in placement.kernels if kernel.inserted)
    if inserted:
        listed = ", ".join(f"{count} {kind}" for kind, count in sorted(inserted.items()))
        yield f"inserted by onnxruntime: {listed}"


def _print_nodes(title: str, nodes: Sequence[NodePlacement], console: Console) -> None:
    if not nodes:
        return
    table = Table(title=f"{title}: {node_text(len(nodes))}", title_justify="left", box=None)
    for column in ("node", "operator", "runs on", "why"):
        table.add_column(column, overflow="fold")
    for node in nodes[:_SHOWN]:
        cells = (node.name or node.key, node.op_type, ", ".join(node.providers), node.reason)
        table.add_row(*map(Text, cells))
    console.print(table)
    if len(nodes) > _SHOWN:
        console.print(f"and {len(nodes) - _SHOWN} more")
