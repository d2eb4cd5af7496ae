"""`mpgraph convert`: the main job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from mpgraph.cli.explanation import explanation_lines, find_assignments
from mpgraph.cli.options import (
    data_option,
    json_option,
    model_argument,
    policy_options,
    target_option,
    verbosity_options,
)
from mpgraph.cli.output import check_output, console, print_json, write_text
from mpgraph.cli.policy import chosen_policy, suffix_of
from mpgraph.cli.progress import Report, progress_bar

__all__ = ["command"]


@click.command("convert")
@model_argument
@click.option(
    "--output",
    "-o",
    type=Path,
    help="Where to write.  [default: MODEL_fp16.onnx, _bf16 or _mixed beside the model]",
)
@policy_options
@target_option
@data_option("Measure numeric ranges, and compare the result, on these inputs.")
@click.option(
    "--keep-io-types/--no-keep-io-types",
    default=True,
    show_default=True,
    help="Keep the dtypes of graph inputs and outputs.",
)
@click.option(
    "--storage",
    type=click.Choice(["compute", "variable"]),
    default="compute",
    show_default=True,
    help="Store weights in the dtype they are computed in, or in the policy's variable dtype.",
)
@click.option(
    "--verify",
    type=click.Choice(["structure", "load", "full"]),
    default="full",
    show_default=True,
    help="Check the structure, also that it loads, also its outputs on --data.",
)
@click.option(
    "--allow-slow", is_flag=True, help="Compute in a dtype that can only lose time on the target."
)
@click.option(
    "--explain", multiple=True, metavar="NODE", help="Say why this node has its dtype (repeat)."
)
@click.option("--dump-plan", type=Path, help="Write all decisions with their reasons, as JSON.")
@click.option("--dry-run", "--check", is_flag=True, help="Do everything but write the model.")
@json_option
@verbosity_options
def command(
    model: Path,
    output: Path | None,
    target: str,
    data: str | None,
    keep_io_types: bool,
    storage: str,
    verify: str,
    allow_slow: bool,
    explain: tuple[str, ...],
    dump_plan: Path | None,
    dry_run: bool,
    as_json: bool,
    verbose: bool,
    quiet: bool,
    **policy_parts: Any,
) -> None:
    """Convert a model by policy and check it.

    \b
    mpgraph convert model.onnx
    mpgraph convert model.onnx -o small.onnx --policy mixed_bfloat16 --target cuda
    mpgraph convert model.onnx --op-types-to-exclude Softmax,LayerNormalization
    """
    policy = chosen_policy(**policy_parts)
    path = output or model.with_name(f"{model.stem}_{suffix_of(policy)}.onnx")
    if not dry_run:
        check_output(path, model)
    if dump_plan is not None:
        check_output(dump_plan, model, path)

    from mpgraph.conversion import convert

    with progress_bar(wanted=not quiet) as progress:
        result = convert(
            model,
            policy=policy,
            target=target,
            data=data,
            keep_io_types=keep_io_types,
            storage=storage,
            verify=verify,
            allow_slow=allow_slow,
            progress=progress,
        )
        explained = [one for name in explain for one in find_assignments(result.plan, name)]
        if not dry_run:
            result.save(path, progress=_step(progress, "save"))
    if dump_plan is not None:
        write_text(dump_plan, result.plan.to_json())
    if as_json:
        _print_json(result, None if dry_run else path, explained)
    elif not quiet:
        _print_text(result, None if dry_run else path, explained, verbose)


def _step(progress: Report | None, step: str) -> Callable[[int, int], None] | None:
    """What a step calls that counts bytes and does not know its own name."""
    if progress is None:
        return None

    def report(done: int, total: int) -> None:
        progress(step, done, total)

    return report


def _print_json(result: Any, path: Path | None, explained: list[Any]) -> None:
    from mpgraph.report.data import conversion_data

    written = None if path is None else str(path)
    print_json({**conversion_data(result), "output": written, "explained": explained})


def _print_text(result: Any, path: Path | None, explained: list[Any], verbose: bool) -> None:
    from mpgraph.report.text import render_conversion

    render_conversion(result, console(), verbose=verbose)
    for line in explanation_lines(explained):
        click.echo(line)
    click.echo("nothing written" if path is None else f"written to {path}")
