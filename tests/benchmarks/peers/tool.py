"""What the harness knows of a tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.benchmarks.peers.job import Job

__all__ = ["Tool"]


def _nothing() -> None:
    """The default preparation."""


@dataclass(frozen=True)
class Tool:
    """A tool that converts models.

    Attributes:
        name: How it is called in tables and in ``--tools``.
        requirements: Pinned packages of its environment; none for the running environment.
        policies: Its settings by suite, as names that ``convert`` knows; the first of a suite is
            what its manual says.
        convert: Converts a model, and returns a remark for the table or nothing. It runs in the
            tool's environment.
        modules: What ``convert`` imports, imported before its time is taken.
        prepare: Does what else is done once per process.
        is_optional: Runs only where asked for by name.
    """

    name: str
    requirements: tuple[str, ...]
    policies: Mapping[str, tuple[str, ...]]
    convert: Callable[[Job], str] = field(repr=False)
    modules: tuple[str, ...] = ()
    prepare: Callable[[], None] = field(default=_nothing, repr=False)
    is_optional: bool = False
