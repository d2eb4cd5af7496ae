"""`mpgraph explain`: why a node has its dtype."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpgraph.cli.explanation import explained_data, find_assignments, read_plan
from mpgraph.cli.options import data_option, json_option, policy_options, target_option
from mpgraph.cli.output import console, print_json
from mpgraph.cli.policy import chosen_policy
from mpgraph.errors import PlanError

if TYPE_CHECKING:
    from mpgraph import ir

__all__ = ["command"]


@click.command("explain")
@click.argument("source", type=Path, metavar="MODEL|PLAN.json")
@click.argument("nodes", nargs=-1, required=True, metavar="NODE...")
@policy_options
@target_option
@data_option("Measure numeric ranges on these inputs.")
@click.option("--keep-io-types/--no-keep-io-types", default=True, show_default=True)
@json_option
def command(
    source: Path,
    nodes: tuple[str, ...],
    target: str,
    data: str | None,
    keep_io_types: bool,
    as_json: bool,
    **policy_parts: Any,
) -> None:
    """Say why a node gets its dtype, and how it is quantized.

    NODE is a name, a key such as main#12, or a scope for all nodes in it.

    A plan is what `convert --dump-plan` writes; a model is planned with the options given.
    """
    converted: ir.Model | None = None
    if source.suffix == ".json" and _is_plan(source):
        plan, quantization = read_plan(source)
    else:
        from mpgraph.conversion import convert

        result = convert(
            source,
            policy=chosen_policy(**policy_parts),
            target=target,
            data=data,
            keep_io_types=keep_io_types,
            verify="structure",
        )
        plan, quantization, converted = result.plan, result.quantization, result.model
    found = [one for node in nodes for one in find_assignments(plan, node)]
    if as_json:
        print_json(explained_data(found, quantization))
        return

    from mpgraph.report.text import render_explanation

    render_explanation(found, plan, console(), converted, quantization)


def _is_plan(path: Path) -> bool:
    """Whether a .json file holds a plan; a model can be stored as JSON too."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return '"format"' in file.read(200)
    except OSError as error:
        raise PlanError(str(path), f"cannot be read: {error.strerror or error}") from error
