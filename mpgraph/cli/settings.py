"""`--set NAME=VALUE`: settings of a target other than those that `mpgraph targets NAME` shows."""

from __future__ import annotations

from collections.abc import Sequence

import click

__all__ = ["parse_settings", "set_option"]

set_option = click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="Another value for a setting of the target; `mpgraph targets NAME` lists them (repeat).",
)


def parse_settings(assignments: Sequence[str]) -> dict[str, str]:
    """The settings by name; the last value of a name counts.

    Raises:
        click.UsageError: A text is not NAME=VALUE.
    """
    settings = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise click.UsageError(f"--set {text}: it is not NAME=VALUE")
        settings[name] = value
    return settings
