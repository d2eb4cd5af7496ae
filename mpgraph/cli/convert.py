"""`mpgraph convert`: the main job."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpgraph.cli.explanation import explained_data, find_assignments
from mpgraph.cli.observer import chosen_observer, memory_option, method_options
from mpgraph.cli.options import (
    data_option,
    json_option,
    model_argument,
    policy_options,
    samples_option,
    target_option,
    verbosity_options,
)
from mpgraph.cli.output import check_output, console, print_json, print_timing, write_text
from mpgraph.cli.policy import chosen_policy, suffix_of
from mpgraph.cli.progress import Report, progress_bar

if TYPE_CHECKING:
    from mpgraph.conversion import Conversion, Storage, Verify
    from mpgraph.plan import Assignment

__all__ = ["command"]


def _refuse_nan(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    if value is not None and math.isnan(value):
        raise click.BadParameter("nan is no error", ctx, param)
    return value


@click.command("convert")
@model_argument
@click.option(
    "--output",
    "-o",
    type=Path,
    help="Where to write.  [default: MODEL_fp16.onnx, _bf16, _int8, _int4 or _mixed beside the "
    "model]",
)
@policy_options
@target_option
@data_option("Measure numeric ranges, and compare the result, on these inputs.")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    callback=_refuse_nan,
    default=1e-2,
    show_default=True,
    help="Largest error that rounding to a low float dtype may cause in an output, over its range, "
    "measured on --data; --max-error lowers it.",
)
@click.option(
    "--max-error",
    type=click.FloatRange(min=0, min_open=True),
    callback=_refuse_nan,
    help="Largest error of an output in the end, over its range, measured on --data, such as 0.03: "
    "nodes that are too harmful quantized, or lose time, stay in float.",
)
@click.option(
    "--ranges",
    type=Path,
    metavar="FILE",
    help="Quantize with the ranges that `mpgraph calibrate` found; --data only checks the result.",
)
@method_options
@samples_option
@memory_option
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
    "--allow-slow",
    is_flag=True,
    help="Compute in a dtype, and quantize, also where that can only lose time on the target.",
)
@click.option(
    "--explain", multiple=True, metavar="NODE", help="Say why this node has its dtype (repeat)."
)
@click.option("--dump-plan", type=Path, help="Write all decisions with their reasons, as JSON.")
@click.option(
    "--html",
    type=Path,
    help="Also write the model before and after side by side, with all reasons, one file.",
)
@click.option(
    "--annotate",
    is_flag=True,
    help="Write the dtype of each value and node, and the reason, into its metadata, which Netron "
    "shows.",
)
@click.option("--dry-run", "--check", is_flag=True, help="Do everything but write the model.")
@json_option
@verbosity_options
def command(
    model: Path,
    output: Path | None,
    target: str,
    data: str | None,
    tolerance: float,
    ranges: Path | None,
    method: str | None,
    percentile: float | None,
    samples: int | None,
    memory: str,
    max_error: float | None,
    keep_io_types: bool,
    storage: Storage,
    verify: Verify,
    allow_slow: bool,
    explain: tuple[str, ...],
    dump_plan: Path | None,
    html: Path | None,
    annotate: bool,
    dry_run: bool,
    as_json: bool,
    verbose: bool,
    quiet: bool,
    **policy_parts: Any,
) -> None:
    """Convert a model by policy, mixed precision or quantized, and check it.

    \b
    mpgraph convert model.onnx
    mpgraph convert model.onnx -o small.onnx --policy mixed_bfloat16 --target cuda
    mpgraph convert model.onnx --op-types-to-exclude Softmax,LayerNormalization
    mpgraph convert model.onnx --precision int8 --data samples.npz
    """
    policy = chosen_policy(**policy_parts)
    source = model if model.name else model.absolute()
    path = output or source.with_name(f"{source.stem}_{suffix_of(policy)}.onnx")
    if not dry_run:
        check_output(path, model)
    if dump_plan is not None:
        if dump_plan.absolute() == path.absolute():
            raise click.UsageError("--dump-plan and --output name the same file")
        check_output(dump_plan, model)
    if html is not None:
        check_output(html, model)

    from mpgraph.conversion import convert
    from mpgraph.passmgr import Instrument, Progress, Timing

    clock = Timing()
    with progress_bar(wanted=not quiet) as progress:
        bar: tuple[Instrument, ...] = () if progress is None else (Progress(_then_check(progress)),)
        result = convert(
            model,
            policy,
            target=target,
            data=data,
            keep_io_types=keep_io_types,
            storage=storage,
            verify=verify,
            allow_slow=allow_slow,
            tolerance=tolerance,
            annotate=annotate,
            ranges=ranges,
            observer=chosen_observer(method, percentile),
            samples=samples,
            memory=memory,
            max_error=max_error,
            instruments=(clock, *bar),
            progress=progress,
        )
        explained = [one for name in explain for one in find_assignments(result.plan, name)]
        if not dry_run:
            result.save(path, progress=_step(progress, "save"))
    if dump_plan is not None:
        from mpgraph.report.plan_document import plan_text

        write_text(dump_plan, plan_text(result.plan, result.quantization))
    written = None if dry_run else path
    if html is not None:
        _write_html(model, result, written, html)
    if verbose:
        print_timing(clock.results)
    if as_json:
        output_name = None if written is None else str(written)
        reasons = explained_data(explained, result.quantization)
        print_json({**result.report.to_dict(), "output": output_name, "explained": reasons})
    elif not quiet:
        _print_text(result, written, explained)


def _write_html(model: Path, result: Conversion, written: Path | None, page: Path) -> None:
    from mpgraph.auditing.decisions import with_decisions
    from mpgraph.auditing.job import audit_model
    from mpgraph.report.audit_html import diff_html

    audits = (audit_model(one) for one in (model, written or result.model))
    before, after = (with_decisions(one, result.plan, result.quantization) for one in audits)
    write_text(page, diff_html(before, after))


def _then_check(progress: Report) -> Report:
    """What follows the last pass is not that pass: the result is checked."""

    def report(step: str, done: int, total: int) -> None:
        progress("check" if done == total else step, done, total)

    return report


def _step(progress: Report | None, step: str) -> Callable[[int, int], None] | None:
    """What a step calls that counts bytes and does not know its own name."""
    if progress is None:
        return None

    def report(done: int, total: int) -> None:
        progress(step, done, total)

    return report


def _print_text(result: Conversion, path: Path | None, explained: Sequence[Assignment]) -> None:
    from mpgraph.report.text import render_conversion, render_explanation, render_sensitivity

    screen = console()
    render_conversion(result, screen)
    render_sensitivity(result.sensitivity, screen)
    render_explanation(explained, result.plan, screen, result.model, result.quantization)
    click.echo("nothing written" if path is None else f"written to {path}")
