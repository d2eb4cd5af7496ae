"""A tree in a few lines: the heaviest levels open, neighbours that are alike as one line."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

__all__ = ["Level", "Row", "TreeView"]


class Level(Protocol):
    """What is asked of one level of a tree."""

    @property
    def name(self) -> str: ...
    @property
    def children(self) -> Sequence[Self]: ...


L = TypeVar("L", bound=Level)


@dataclass(frozen=True, slots=True)
class Row(Generic[L]):
    """One line: a level, or several neighbours that are alike."""

    label: str
    depth: int
    levels: tuple[L, ...]


@dataclass(frozen=True)
class TreeView(Generic[L]):
    """How a tree is shown in a few lines.

    Attributes:
        likeness: Neighbours for which this is equal become one line.
        weight: What is opened first, and kept where lines are few.
        is_bare: Whether nothing stands directly in a level; one with a single child then shares
            the line of this child.
    """

    likeness: Callable[[L], Hashable]
    weight: Callable[[L], int]
    is_bare: Callable[[L], bool]

    def rows(self, root: L, lines: int) -> list[Row[L]]:
        """The levels below the root, in at most ``lines`` lines."""
        rows = self._below(root, 0)
        if len(rows) > lines:
            return self._cut(rows, lines)
        opened: set[int] = set()
        while True:
            closed = [
                (index, row)
                for index, row in enumerate(rows)
                if id(row.levels[0]) not in opened and row.levels[0].children
            ]
            fitting = [
                (index, row, below)
                for index, row in closed
                if len(rows) + len(below := self._below(row.levels[0], row.depth + 1)) <= lines
            ]
            if not fitting:
                return rows
            index, row, below = max(fitting, key=lambda one: self._rank(one[1]))
            opened.add(id(row.levels[0]))
            rows[index + 1 : index + 1] = below

    def _rank(self, row: Row[L]) -> tuple[int, int]:
        # The upper levels first: what a reader knows by name.
        return -row.depth, self.weight(row.levels[0]) * len(row.levels)

    def _cut(self, rows: list[Row[L]], lines: int) -> list[Row[L]]:
        """The largest rows, in graph order, with one line that stands for the others."""
        largest = sorted(range(len(rows)), key=lambda index: -self._rank(rows[index])[1])
        kept = sorted(largest[: max(1, lines - 1)])
        rest = tuple(
            level
            for index in sorted(set(range(len(rows))) - set(kept))
            for level in rows[index].levels
        )
        return [*(rows[index] for index in kept), Row(f"and {len(rest)} more", 0, rest)]

    def _below(self, level: L, depth: int) -> list[Row[L]]:
        groups: list[list[L]] = []
        for child in level.children:
            if groups and self.likeness(groups[-1][-1]) == self.likeness(child):
                groups[-1].append(child)
            else:
                groups.append([child])
        return [self._grouped(group, depth) for group in groups]

    def _grouped(self, group: Sequence[L], depth: int) -> Row[L]:
        if len(group) > 1:
            label = f"{group[0].name} .. {group[-1].name} ({len(group)} alike)"
            return Row(label, depth, tuple(group))
        level, names = group[0], [group[0].name]
        while len(level.children) == 1 and self.is_bare(level):
            level = level.children[0]
            names.append(level.name)
        return Row("/".join(names), depth, (level,))
