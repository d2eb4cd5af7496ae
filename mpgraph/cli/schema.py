"""`--schema`: the JSON schema of what a command prints with --json."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["schema_option"]

Command = TypeVar("Command", bound=Callable[..., Any])


def schema_option(load: Callable[[], dict[str, Any]]) -> Callable[[Command], Command]:
    """`--schema`, which needs no model.

    Args:
        load: Makes the schema; what it needs is imported when it is called.
    """

    def show(ctx: click.Context, param: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            click.echo(json.dumps(load(), indent=2))
            ctx.exit()

    return click.option(
        "--schema",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Print the JSON schema of what --json prints, and do nothing else.",
    )
