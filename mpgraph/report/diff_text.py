"""What changed from one model to another on one screen: sums, layers, and each kind of change."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mpgraph.auditing import AuditReport
from mpgraph.auditing.changed_layers import ChangedLayer
from mpgraph.auditing.changes import KINDS, Change
from mpgraph.auditing.diff import ModelDiff
from mpgraph.report.audit_tree import dtype_bar, legend
from mpgraph.report.tree_rows import Row, TreeView
from mpgraph.report.units import byte_text, node_text, ratio_text

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["render_diff", "render_whole_diff"]

_SCREEN = 22
"""Lines at least: those of the smallest screen, less a prompt."""
_PAGE = 38
"""Lines of what does not go to a screen."""
_FEWEST = (3, 4)
"""Lines that the tree and the changes get at least."""
_BAR = 8
_UNLIMITED = 10**9
_ALIKE = ("operator", "dtype", "storage", "provider", "inserted", "removed")
"""Kinds of which those with the same before and after are told together."""


def render_diff(diff: ModelDiff, console: Console) -> None:
    """Print a difference in as many lines as the screen has, and at least as on one of 80 x 24.

    Changes of the same kind are one line, with a count and the first node. The text is ASCII and
    says in words what it also says in colour.

    Args:
        diff: What ``mpgraph.diff`` returned.
        console: Where to print; its width is kept.
    """
    head = list(_head(diff))
    screen = max(_SCREEN, console.height - 2) if console.is_terminal else _PAGE
    left = screen - sum(len(console.render_lines(part, pad=False)) for part in head)
    groups = _groups(diff.changes)
    layers = _layers_shown(diff)
    # A blank line each, the head of the tree and its legend.
    free = left - (4 if layers else 1)
    wanted = max(_FEWEST[0], (free + 1) // 2) if layers else 0
    for_groups = min(len(groups), max(_FEWEST[1], free - wanted))
    for part in (*head, *_tree(diff, max(_FEWEST[0], free - for_groups) if layers else 0)):
        console.print(part)
    if groups:
        console.print()
        console.print(_group_table(groups, for_groups, console.width))


def render_whole_diff(diff: ModelDiff, console: Console) -> None:
    """Print every changed layer and every change, however many lines that takes."""
    for part in (*_head(diff), *_tree(diff, _UNLIMITED if _layers_shown(diff) else 0)):
        console.print(part)
    if not diff.changes:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    order = list(KINDS)
    for change in sorted(diff.changes, key=lambda change: order.index(change.kind)):
        table.add_row(change.kind, Text(change.node), Text(_became(change)))
    console.print()
    console.print(table)


def _head(diff: ModelDiff) -> Iterator[Table | Text]:
    names = [PurePath(report.model).name for report in (diff.before, diff.after)]
    yield Text.assemble((names[0], "bold"), " -> ", (names[1], "bold"))
    if diff.before.target:
        yield Text(f"both on {diff.before.target}", style="dim")
    for name, report in zip(names, (diff.before, diff.after), strict=True):
        missing = report.not_audited
        if missing:
            more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
            text = f"not audited in {name}: {missing[0].where}: {missing[0].reason}{more}"
            yield Text(text, style="yellow", overflow="ellipsis", no_wrap=True)
    yield Text()
    yield _sums(diff.before, diff.after)
    yield Text()
    yield Text(_verdict(diff), style="bold")


def _verdict(diff: ModelDiff) -> str:
    if diff.equal:
        return "nothing changed"
    counts = ", ".join(f"{diff.kinds[kind]} {kind}" for kind in KINDS if kind in diff.kinds)
    both = sum(twin >= 0 for twin in diff.twins)
    return f"{counts} ({node_text(both)} in both)"


def _sums(before: AuditReport, after: AuditReport) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    table.add_column("before", justify="right", no_wrap=True)
    table.add_column("after", justify="right", no_wrap=True, style="bold")
    table.add_column("", style="dim")
    one, other = before.totals, after.totals
    for dtype in dict.fromkeys((*one.nodes, *other.nodes)):
        table.add_row(
            f"{dtype} nodes", str(one.nodes.get(dtype, 0)), str(other.nodes.get(dtype, 0))
        )
    for label, was, now in (
        ("Cast nodes", one.casts, other.casts),
        ("Q/DQ nodes", one.quantizers, other.quantizers),
    ):
        if was or now:
            table.add_row(label, str(was), str(now))
    stored = [sum(totals.weight_bytes.values()) for totals in (one, other)]
    share = ratio_text(stored[1], stored[0])
    table.add_row("weights", *map(byte_text, stored), share and f"{share} of before")
    return table


def _likeness(layer: ChangedLayer) -> Hashable:
    nodes = (
        frozenset(side.nodes.items()) if side else None for side in (layer.before, layer.after)
    )
    return frozenset(layer.changes.items()), *nodes


_VIEW: TreeView[ChangedLayer] = TreeView(
    likeness=_likeness,
    weight=lambda layer: sum(layer.changes.values()),
    is_bare=lambda layer: not layer.own,
)


def _layers_shown(diff: ModelDiff) -> bool:
    return bool(diff.layers.children)


def _tree(diff: ModelDiff, lines: int) -> Iterator[Table | Text]:
    """The changed layers in a number of lines, head and legend not counted; nothing for 0."""
    if not lines:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("layer", no_wrap=True, overflow="ellipsis", max_width=31)
    for head in ("before", "after"):
        table.add_column(head, no_wrap=True, min_width=_BAR)
    table.add_column("changes", no_wrap=True, overflow="ellipsis")
    root = diff.layers
    for row in _VIEW.rows(root, lines - bool(root.own)):
        table.add_row(*_cells(row))
    if root.own:
        table.add_row("(in no layer)", "", "", str(root.own))
    yield Text()
    yield table
    yield legend({**diff.before.totals.nodes, **diff.after.totals.nodes})


def _cells(row: Row[ChangedLayer]) -> Iterator[Text]:
    yield Text(f"{'  ' * row.depth}{row.label}")
    for side in ("before", "after"):
        nodes: dict[str, int] = {}
        for level in row.levels:
            totals = getattr(level, side)
            for dtype, count in totals.nodes.items() if totals else ():
                nodes[dtype] = nodes.get(dtype, 0) + count
        yield dtype_bar(nodes, _BAR)
    counts = {kind: sum(level.changes.get(kind, 0) for level in row.levels) for kind in KINDS}
    yield Text(", ".join(f"{count} {kind}" for kind, count in counts.items() if count))


def _groups(changes: Sequence[Change]) -> list[list[Change]]:
    """Changes that are told together, in the order of kinds, the most frequent first."""
    groups: dict[tuple[str, ...], list[Change]] = {}
    for change in changes:
        is_alike = change.kind in _ALIKE
        key = (change.kind, change.old, change.new, change.reason) if is_alike else (change.kind,)
        groups.setdefault(key, []).append(change)
    order = list(KINDS)
    return sorted(groups.values(), key=lambda group: (order.index(group[0].kind), -len(group)))


def _group_table(groups: Sequence[Sequence[Change]], lines: int, width: int) -> Table:
    shown = groups if len(groups) <= lines else groups[: max(1, lines - 1)]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False, width=width)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=width // 2)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for group in shown:
        first = group[0]
        node = first.node if len(group) == 1 else f"e.g. {first.node}"
        table.add_row(first.kind, str(len(group)), Text(_became(first)), Text(node))
    if len(shown) < len(groups):
        hidden = sum(map(len, groups[len(shown) :]))
        table.add_row("and", str(hidden), "more", "--all lists all")
    return table


def _became(change: Change) -> str:
    if change.kind == "inserted":
        return f"{change.new}: {change.reason}" if change.reason else change.new
    if change.kind == "removed":
        return change.old
    return f"{change.old or 'nothing'} -> {change.new or 'nothing'}"
