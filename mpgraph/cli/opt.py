"""`mpgraph opt`: run a pipeline of passes by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpgraph.cli.options import model_argument
from mpgraph.cli.output import check_output, print_timing

if TYPE_CHECKING:
    from mpgraph.passmgr import Instrument

__all__ = ["command"]


@click.command("opt")
@model_argument
@click.option(
    "--passes",
    required=True,
    metavar="PIPELINE",
    help="Passes in order: 'normalize,assign-policy{policy=mixed_float16}', see `mpgraph passes`.",
)
@click.option("--output", "-o", type=Path, help="Where to write; without it the IR is printed.")
@click.option(
    "--print-after", multiple=True, metavar="PASS", help="Print the IR after it (repeat)."
)
@click.option("--verify-each", is_flag=True, help="Verify the structure after every pass.")
@click.option("--dump-dir", type=Path, help="Write the IR after every pass to this folder.")
@click.option("--bisect-limit", type=click.IntRange(min=0), help="Run the first N passes only.")
@click.option("--timing", is_flag=True, help="Print the time of every pass to stderr.")
def command(
    model: Path,
    passes: str,
    output: Path | None,
    print_after: tuple[str, ...],
    verify_each: bool,
    dump_dir: Path | None,
    bisect_limit: int | None,
    timing: bool,
) -> None:
    """Run a pipeline of passes by hand.

    A pass that fails leaves a reproducer: the model before it and the rest of the pipeline.
    """
    if output is not None:
        check_output(output, model)

    from mpgraph import ir
    from mpgraph.passmgr import Facts, Reproducer, Timing, load_pipeline, run_pipeline

    pipeline = load_pipeline(passes)
    loaded = ir.load(model)
    clock = Timing()
    instruments = [
        *_instruments(print_after, verify_each, dump_dir, bisect_limit),
        clock,
        Reproducer(lambda: ir.load(model), dump_dir and dump_dir / "reproducer"),
    ]
    run_pipeline(loaded, pipeline, Facts(), instruments)
    if output is not None:
        ir.save(loaded, output)
    else:
        click.echo(ir.print_model(loaded), nl=False)
    if timing:
        print_timing(clock.results)


def _instruments(
    print_after: tuple[str, ...],
    verify_each: bool,
    dump_dir: Path | None,
    bisect_limit: int | None,
) -> list[Instrument]:
    from mpgraph.passmgr import BisectLimit, DumpIR, PrintAfter, VerifyEach

    chosen: list[Instrument] = []
    if bisect_limit is not None:
        chosen.append(BisectLimit(bisect_limit))
    if print_after:
        chosen.append(PrintAfter(print_after, click.echo))
    if dump_dir is not None:
        chosen.append(DumpIR(dump_dir))
    if verify_each:
        chosen.append(VerifyEach())
    return chosen
