"""`mpgraph calibrate`: ranges of a model's values, for conversions that have no data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpgraph.cli.observer import chosen_observer, memory_option, method_options
from mpgraph.cli.options import (
    data_option,
    json_option,
    model_argument,
    samples_option,
    target_option,
    verbosity_options,
)
from mpgraph.cli.output import check_output, console, print_json, print_timing
from mpgraph.cli.policy import chosen_policy
from mpgraph.cli.progress import progress_bar
from mpgraph.cli.workers import chosen_executor, threads_each, workers_options

if TYPE_CHECKING:
    from mpgraph.quant.calibration import Calibration

__all__ = ["command"]

DEFAULT = "int8_from_float32"


@click.command("calibrate")
@model_argument
@data_option("Run the model on these inputs.")
@click.option(
    "--output",
    "-o",
    type=Path,
    help="Where to write.  [default: MODEL_ranges.json beside the model]",
)
@click.option("--policy", help=f"Find the ranges that this policy needs.  [default: {DEFAULT}]")
@click.option("--policy-file", type=Path, help="Policy and rules in TOML.")
@target_option
@method_options
@samples_option
@memory_option
@workers_options
@click.option(
    "--merge",
    multiple=True,
    type=Path,
    metavar="FILE",
    help="Go on from the ranges in this file, found on other data before (repeat); without --data "
    "the files are merged alone.",
)
@click.option("--allow-slow", is_flag=True, help="Also for what can only lose time on the target.")
@json_option
@verbosity_options
def command(
    model: Path,
    data: str | None,
    output: Path | None,
    policy: str | None,
    policy_file: Path | None,
    target: str,
    method: str | None,
    percentile: float | None,
    samples: int | None,
    memory: str,
    workers: int | None,
    scheduler: str | None,
    merge: tuple[Path, ...],
    allow_slow: bool,
    as_json: bool,
    verbose: bool,
    quiet: bool,
) -> None:
    """Run a model on data and keep the ranges of the values that a policy quantizes.

    Samples may differ in shape, and memory does not grow with their number. Elements that are NaN
    or infinite are skipped and counted; attention masks are kept out of ranges.

    \b
    mpgraph calibrate model.onnx --data inputs.npz -o ranges.json
    mpgraph convert model.onnx --policy int8_from_float32 --ranges ranges.json
    mpgraph calibrate model.onnx --data more.npz --merge ranges.json -o all.json
    """
    if data is None and not merge:
        raise click.UsageError("give --data; ranges are never found on made-up numbers unasked")
    source = model if model.name else model.absolute()
    path = output or source.with_name(f"{source.stem}_ranges.json")
    check_output(path, model)
    chosen = chosen_policy(
        policy if policy or policy_file else DEFAULT, None, policy_file, (), (), (), ()
    )

    from mpgraph.passmgr import Timing
    from mpgraph.ranges import calibrate_model, merge_ranges

    clock = Timing()
    observer = chosen_observer(method, percentile)
    parts = [merge_ranges(model, merge)] if merge else []
    if data is not None:
        with progress_bar(wanted=not quiet) as bar, chosen_executor(workers, scheduler) as executor:
            found = calibrate_model(
                model,
                data,
                chosen,
                target=target,
                observer=observer,
                samples=samples,
                memory=memory,
                executor=executor,
                workers=workers,
                threads=threads_each(workers),
                allow_slow=allow_slow,
                progress=bar,
                instruments=(clock,),
            )
        parts.append(found)
    calibration = parts[0].merge(*parts[1:])
    calibration.save(path)
    if verbose:
        print_timing(clock.results)
    if as_json:
        _print_json(calibration, path)
    elif not quiet:
        _print_text(calibration, path)


def _print_json(calibration: Calibration, path: Path) -> None:
    from mpgraph.report.calibration import describe_ranges

    print_json({**describe_ranges(calibration), "output": str(path)})


def _print_text(calibration: Calibration, path: Path) -> None:
    from mpgraph.report.text import render_calibration

    render_calibration(calibration, console())
    click.echo(f"written to {path}")
