"""`mpgraph targets`: which execution providers there are, and what each can do here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpgraph.cli.options import json_option
from mpgraph.cli.output import console, print_json

if TYPE_CHECKING:
    from mpgraph.report.target_facts import TargetFacts
    from mpgraph.runtime.trial import Trial

__all__ = ["command"]


@click.command("targets")
@click.argument("name", required=False)
@json_option
def command(name: str | None, as_json: bool) -> None:
    """List the targets, or show everything about the target NAME.

    A number with * counts operators in a dtype that has no MatMul kernel.
    """
    from mpgraph.report.target_facts import device_facts, target_facts
    from mpgraph.targets import available_targets, get_target

    device = device_facts()
    if name is None:
        rows = [target_facts(get_target(each)) for each in available_targets()]
        if as_json:
            print_json({"targets": rows, "device": device})
            return
        from mpgraph.report.target_text import render_targets

        render_targets(rows, device, console())
        return
    row = target_facts(get_target(name))
    trials = _trials(row)
    if row.name == "webgpu" and any(one.ran and one.dtype == "float16" for one in trials):
        device["GPU has"] = "shader-f16"
    if as_json:
        print_json({"target": row, "trials": trials, "device": device})
        return
    from mpgraph.report.target_text import render_target

    render_target(row, device, trials, console())


def _trials(row: TargetFacts) -> list[Trial]:
    """What runs on the target here; nothing is tried where a package is missing."""
    if row.missing:
        return []
    from mpgraph import ir
    from mpgraph.runtime.trial import try_dtype

    dtypes = (ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.BFLOAT16)
    return [try_dtype(row.name, dtype) for dtype in dtypes]
