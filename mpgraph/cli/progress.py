"""A progress bar on stderr for long work, only where a person watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mpgraph.cli.output import console

__all__ = ["Report", "progress_bar"]

Report = Callable[[str, int, int], None]
"""Takes the step that begins, how much of the work is done, and how much there is."""


@contextmanager
def progress_bar(wanted: bool) -> Iterator[Report | None]:
    """A function that moves the bar; None where no bar is wanted or stderr is no terminal."""
    target = console(stderr=True)
    if not wanted or not target.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn("line"),
        TextColumn("{task.description:<24}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=target, transient=True) as bar:
        task = bar.add_task("load", total=None)

        def report(step: str, done: int, total: int) -> None:
            bar.update(task, description=step, completed=done, total=total)

        yield report
