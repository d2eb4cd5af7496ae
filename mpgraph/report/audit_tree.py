"""The layer tree of an audit in a few lines: a bar of dtypes per level, what is alike together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from mpgraph.auditing import LayerFact, Totals
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


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of the tree: a level, or several neighbours that are alike."""

    label: str
    depth: int
    layers: tuple[LayerFact, ...]

    @property
    def totals(self) -> Totals:
        return self.layers[0].totals


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
    rows = _opened(root, lines - 1 - bool(loose))
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


def _opened(root: LayerFact, lines: int) -> list[_Row]:
    rows = _rows_below(root, 0)
    if len(rows) > lines:
        return _cut(rows, lines)
    opened: set[int] = set()
    while True:
        closed = [
            (index, row)
            for index, row in enumerate(rows)
            if id(row.layers[0]) not in opened and row.layers[0].children
        ]
        fitting = [
            (index, row, below)
            for index, row in closed
            if len(rows) + len(below := _rows_below(row.layers[0], row.depth + 1)) <= lines
        ]
        if not fitting:
            return rows
        index, row, below = max(fitting, key=lambda one: _weight(one[1]))
        opened.add(id(row.layers[0]))
        rows[index + 1 : index + 1] = below


def _weight(row: _Row) -> tuple[int, int]:
    totals = row.totals
    # The upper levels first: what a reader knows by name.
    return -row.depth, sum(totals.nodes.values()) * len(row.layers)


def _cut(rows: list[_Row], lines: int) -> list[_Row]:
    """The largest rows, in graph order, with one line that stands for the others."""
    largest = sorted(range(len(rows)), key=lambda index: -_weight(rows[index])[1])
    kept = sorted(largest[: max(1, lines - 1)])
    rest = tuple(
        layer for index in sorted(set(range(len(rows))) - set(kept)) for layer in rows[index].layers
    )
    return [*(rows[index] for index in kept), _Row(f"and {len(rest)} more", 0, rest)]


def _rows_below(layer: LayerFact, depth: int) -> list[_Row]:
    groups: list[list[LayerFact]] = []
    for child in layer.children:
        if groups and _is_alike(groups[-1][-1], child):
            groups[-1].append(child)
        else:
            groups.append([child])
    return [_grouped(group, depth) for group in groups]


def _is_alike(first: LayerFact, second: LayerFact) -> bool:
    one, other = first.totals, second.totals
    return (one.nodes, one.weight_bytes, one.casts) == (
        other.nodes,
        other.weight_bytes,
        other.casts,
    )


def _grouped(group: Sequence[LayerFact], depth: int) -> _Row:
    if len(group) > 1:
        label = f"{group[0].name} .. {group[-1].name} ({len(group)} alike)"
        return _Row(label, depth, tuple(group))
    layer, names = group[0], [group[0].name]
    while len(layer.children) == 1 and not layer.nodes:
        layer = layer.children[0]
        names.append(layer.name)
    return _Row("/".join(names), depth, (layer,))


def _cells(row: _Row) -> Iterator[Text]:
    together = _sum([layer.totals for layer in row.layers])
    bar = dtype_bar(together["nodes"])
    yield Text(f"{'  ' * row.depth}{row.label}")
    yield bar
    yield Text(str(sum(together["nodes"].values())))
    yield Text(str(sum(layer.totals.casts for layer in row.layers) or ""))
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
