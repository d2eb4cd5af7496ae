"""The layer tree of an audit in a few lines: a bar of dtypes per level, what is alike together."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from mpgraph.auditing import LayerFact, Totals
from mpgraph.report.tree_rows import Row, TreeView
from mpgraph.report.units import byte_text, count_text

__all__ = ["dtype_bar", "layer_table", "legend"]

_BAR = 14
_NAME = 31
_MARKS = {
    "float32": ("#", "blue"),
    "float16": ("+", "green"),
    "bfloat16": ("=", "cyan"),
    "float64": ("D", "magenta"),
    "int8": ("8", "yellow"),
    "uint8": ("8", "yellow"),
}
_OTHER = (".", "dim")


def layer_table(root: LayerFact, lines: int) -> Table:
    """The levels below the root as a table of at most ``lines`` lines, its head included.

    The levels with the most nodes are opened first; chains of single levels are one line.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("layer", no_wrap=True, overflow="ellipsis", max_width=_NAME)
    table.add_column("nodes by dtype", no_wrap=True)
    for head in ("nodes", "casts", "weights", "MACs"):
        table.add_column(head, justify="right", no_wrap=True)
    loose, macs = (_loose(root, name) for name in ("nodes", "multiply_accumulates"))
    rows = _VIEW.rows(root, lines - 1 - bool(loose))
    for row in rows:
        table.add_row(*_cells(row))
    if loose:
        done = count_text(sum(macs.values()))
        table.add_row("(in no layer)", dtype_bar(loose), str(sum(loose.values())), "", "", done)
    return table


def dtype_bar(nodes: Mapping[str, int], width: int = _BAR) -> Text:
    """Shares of dtypes as a bar of letters; every dtype that is there has one letter at least."""
    total = sum(nodes.values())
    bar = Text()
    if not total:
        return bar
    shares = sorted(nodes.items(), key=lambda item: -item[1])
    lengths = [max(1, round(width * count / total)) for _, count in shares]
    while sum(lengths) > max(width, len(lengths)):
        lengths[lengths.index(max(lengths))] -= 1
    lengths[0] += max(0, width - sum(lengths))
    for (dtype, _), length in zip(shares, lengths, strict=True):
        mark, style = _MARKS.get(dtype, _OTHER)
        bar.append(mark * length, style=style)
    return bar


def _loose(root: LayerFact, name: str) -> dict[str, int]:
    """What stands directly in the root of what is summed up under a name, by dtype."""
    below = _sum([child.totals for child in root.children])[name]
    whole = _sum([root.totals])[name]
    left = {dtype: count - below.get(dtype, 0) for dtype, count in whole.items()}
    return {dtype: count for dtype, count in left.items() if count}


def legend(nodes: Mapping[str, int]) -> Text:
    """What the letters of the bars mean, for the dtypes that are there."""
    text = Text()
    meant: dict[tuple[str, str], list[str]] = {}
    for dtype in nodes:
        meant.setdefault(_MARKS.get(dtype, _OTHER), []).append(dtype)
    for (mark, style), dtypes in meant.items():
        text.append("  " if text else "")
        text.append(mark, style=style)
        text.append(f" {', '.join(dtypes)}")
    return text


def _likeness(layer: LayerFact) -> Hashable:
    totals = layer.totals
    return frozenset(totals.nodes.items()), frozenset(totals.weight_bytes.items()), totals.casts


_VIEW: TreeView[LayerFact] = TreeView(
    likeness=_likeness,
    weight=lambda layer: sum(layer.totals.nodes.values()),
    is_bare=lambda layer: not layer.nodes,
)


def _cells(row: Row[LayerFact]) -> Iterator[Text]:
    together = _sum([layer.totals for layer in row.levels])
    bar = dtype_bar(together["nodes"])
    yield Text(f"{'  ' * row.depth}{row.label}")
    yield bar
    yield Text(str(sum(together["nodes"].values())))
    yield Text(str(sum(layer.totals.casts for layer in row.levels) or ""))
    yield Text(byte_text(sum(together["weight_bytes"].values())))
    yield Text(count_text(sum(together["multiply_accumulates"].values())))


def _sum(totals: Sequence[Totals]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for name in ("nodes", "weight_bytes", "multiply_accumulates"):
        sums: dict[str, int] = {}
        for one in totals:
            for dtype, count in getattr(one, name).items():
                sums[dtype] = sums.get(dtype, 0) + count
        found[name] = sums
    return found
