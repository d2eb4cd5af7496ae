"""What commands print and write: JSON, tables, checked output paths."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpgraph.errors import OutputError

if TYPE_CHECKING:
    from rich.console import Console

    from mpgraph.passmgr import PassResult

__all__ = ["check_output", "console", "print_json", "print_table", "print_timing", "write_text"]


def console(*, stderr: bool = False) -> Console:
    """A console for stdout or stderr that never breaks a line inside a pipe."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False, soft_wrap=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = 160
    return made


def print_json(data: object) -> None:
    """Print one JSON document; infinities and NaN, which JSON lacks, become texts."""
    click.echo(json.dumps(_jsonable(data), indent=2, ensure_ascii=False, allow_nan=False))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Print rows under column heads."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    console().print(table)


def print_timing(results: Iterable[PassResult]) -> None:
    """Print what every pass did and how long it took, to stderr."""
    for each in results:
        changed = "changed" if each.modified else "unchanged"
        click.echo(f"{each.seconds:9.3f} s  {changed:9}  {each.label}", err=True)


def check_output(path: Path, *inputs: Path) -> None:
    """Refuse an output path before any work is done for it.

    Raises:
        OutputError: The path is one of the inputs, or cannot be written.
    """
    from mpgraph.ir.destination import check_destination

    for source in inputs:
        same = path.exists() and source.exists() and path.samefile(source)
        if same or path.absolute() == source.absolute():
            raise OutputError(str(path), "is the input itself", "give another path with -o")
    check_destination(path)


def write_text(path: Path, text: str) -> None:
    """Write a small text file.

    Raises:
        OutputError: The file cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        rule = f"cannot be written: {error.strerror or error}"
        raise OutputError(str(path), rule) from error


def _jsonable(data: object) -> Any:
    if dataclasses.is_dataclass(data) and not isinstance(data, type):
        fields = dataclasses.fields(data)
        return {field.name: _jsonable(getattr(data, field.name)) for field in fields}
    if isinstance(data, Mapping):
        return {str(key): _jsonable(value) for key, value in data.items()}
    if isinstance(data, list | tuple | set | frozenset):
        return [_jsonable(item) for item in data]
    if data is None or isinstance(data, bool | int | str):
        return data
    if isinstance(data, float):
        return data if math.isfinite(data) else str(data)
    return str(data)
