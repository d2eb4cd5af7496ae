"""Columns of a page's data: texts as numbers of a string table, runs of equal entries as one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from mpgraph.report.audit_html.strings import StringTable

__all__ = ["Data", "Numbers", "Texts", "encoded", "gather_texts"]

Data = object


class Texts(list[str]):
    """A column of texts."""


class Numbers(list[int | float | None]):
    """A column of numbers, None for unknown ones."""


def gather_texts(data: Data, table: StringTable) -> None:
    """Takes all columns of texts inside ``data`` into a table."""
    if isinstance(data, Texts):
        for text in data:
            table.add(text)
    elif isinstance(data, dict):
        for each in data.values():
            gather_texts(each, table)


def encoded(data: Data, table: StringTable) -> Data:
    """``data`` with its columns as JSON holds them.

    Texts become ``{"texts": [number, ...]}``, numbers a list; where that is shorter,
    ``{"text_runs": [number, count, ...]}`` and ``{"runs": [entry, count, ...]}``.
    """
    if isinstance(data, Texts):
        numbers = [table.number(text) for text in data]
        runs = _runs(numbers)
        return {"texts": numbers} if len(runs) >= len(numbers) else {"text_runs": runs}
    if isinstance(data, Numbers):
        runs = _runs(data)
        return data if len(runs) >= len(data) else {"runs": runs}
    if isinstance(data, dict):
        return {key: encoded(each, table) for key, each in data.items()}
    return data


def _runs(entries: Sequence[int | float | None]) -> list[int | float | None]:
    found: list[int | float | None] = []
    for entry, group in groupby(entries):
        found += (entry, sum(1 for _ in group))
    return found
