"""`mpgraph passes`: which passes there are, with their options."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import click

from mpgraph.cli.options import json_option
from mpgraph.cli.output import print_json

if TYPE_CHECKING:
    from mpgraph.passmgr.options import OptionInfo

__all__ = ["command"]


@click.command("passes")
@json_option
def command(as_json: bool) -> None:
    """List the passes and their options."""
    from mpgraph.passmgr import pass_table

    rows = [_describe(name, path) for name, path in pass_table().items()]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        click.echo(f"{row['name']:<18} {row['summary']}")
        for option in row["options"]:
            shown = f"{option.name}: {option.type} = {_default(option)}"
            click.echo(f"{'':<18}   {shown}")


def _default(option: OptionInfo) -> str:
    return "-" if option.default in ("", '""') else option.default


def _describe(name: str, path: str) -> dict[str, Any]:
    from mpgraph.passmgr import Pass, load_class
    from mpgraph.passmgr.options import describe_options

    cls = load_class(name)
    documented = (inspect.getdoc(cls) or "").partition("\n\n")[0]
    summary = " ".join(documented.replace("``", "").split())
    options = describe_options(cls) if issubclass(cls, Pass) else ()
    return {"name": name, "class": path, "summary": summary, "options": options}
