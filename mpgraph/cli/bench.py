"""`mpgraph bench`: how long models take, side by side."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from mpgraph.cli.options import (
    RANDOM,
    data_option,
    json_option,
    samples_option,
    shapes_option,
    target_option,
)
from mpgraph.cli.output import console, print_json
from mpgraph.cli.progress import progress_bar
from mpgraph.cli.settings import parse_settings, set_option
from mpgraph.cli.shapes import parse_shapes

__all__ = ["command"]


@click.command("bench")
@click.argument("models", type=Path, nargs=-1, required=True, metavar="MODEL...")
@data_option("Run on these inputs.  [default: random]")
@samples_option
@shapes_option
@target_option
@set_option
@click.option(
    "--threads",
    type=click.IntRange(min=0),
    default=0,
    help="Threads inside one operator; 0 leaves the choice to onnxruntime.  [default: 0]",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="How long the runs of all models take together, sessions not included; what a slow model "
    "needs more than that is said.",
)
@click.option(
    "--sessions",
    type=click.IntRange(min=3),
    default=5,
    show_default=True,
    help="How often new sessions are made; more make the intervals narrower.",
)
@click.option(
    "--nodes",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Show so many of the longest nodes of each model.",
)
@json_option
@click.option("--quiet", "-q", is_flag=True, help="No progress bar.")
def command(
    models: tuple[Path, ...],
    data: str | None,
    samples: int | None,
    input_shapes: tuple[str, ...],
    target: str,
    assignments: tuple[str, ...],
    threads: int,
    seconds: float,
    sessions: int,
    nodes: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Time models side by side.

    Runs of all models are interleaved. A winner is named only where the interval of the ratio
    leaves no doubt.
    """
    shapes = parse_shapes(input_shapes)
    settings = parse_settings(assignments)

    from mpgraph import ir
    from mpgraph.runtime.bench import bench_models
    from mpgraph.runtime.data import input_specs, load_data

    inputs = input_specs(ir.load(models[0]))
    feeds = load_data(data or RANDOM, inputs, shapes=shapes, samples=samples)
    with progress_bar(not quiet) as report:
        bench = bench_models(
            *models,
            data=feeds,
            target=target,
            threads=threads,
            settings=settings,
            seconds=seconds,
            sessions=sessions,
            report=report,
        )
    if as_json:
        parts = {field.name: getattr(bench, field.name) for field in dataclasses.fields(bench)}
        print_json({"winner": bench.winner, "overran": bench.overran, **parts})
        return

    from mpgraph.report.text import render_bench

    if data is None:
        click.echo("Random data, as no --data was given: real inputs can take another time.")
    render_bench(bench, console(), nodes=nodes)
