"""`mpgraph verify`: how far two models are apart on the same inputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpgraph.cli.options import data_option, json_option, target_option
from mpgraph.cli.output import print_json, print_table
from mpgraph.cli.shapes import parse_shapes
from mpgraph.cli.tolerance import parse_tolerances, passes

if TYPE_CHECKING:
    from mpgraph.runtime.differences import Difference

__all__ = ["command"]

RELATIVE = 1e-2
COLUMNS = ("", "max abs", "max / range", "SQNR dB", "cosine", "NaN a/b", "Inf a/b", "")


@click.command("verify")
@click.argument("a", type=Path)
@click.argument("b", type=Path)
@data_option("Run both models on these inputs.", default="random")
@click.option("--samples", type=click.IntRange(min=1), help="Use at most so many samples.")
@click.option(
    "--input-shapes",
    multiple=True,
    metavar="NAME:SHAPE",
    help="Shapes for random data: x:1,3 or x:[1,3] or x:1x3 (repeat).",
)
@click.option("--per-layer", is_flag=True, help="Also compare the values inside, by name.")
@click.option(
    "--emulate",
    is_flag=True,
    help="Round every float16 and bfloat16 value as a GPU would; the CPU provider computes many "
    "of them in float32.",
)
@target_option
@click.option(
    "--rtol",
    multiple=True,
    metavar="[OUTPUT:]VALUE",
    help=f"Largest error allowed, relative to the range of the output.  [default: {RELATIVE}]",
)
@click.option(
    "--atol",
    multiple=True,
    metavar="[OUTPUT:]VALUE",
    help="Largest absolute error allowed where --rtol is exceeded.  [default: 0]",
)
@json_option
def command(
    a: Path,
    b: Path,
    data: str,
    samples: int | None,
    input_shapes: tuple[str, ...],
    per_layer: bool,
    emulate: bool,
    target: str,
    rtol: tuple[str, ...],
    atol: tuple[str, ...],
    as_json: bool,
) -> int:
    """Compare the outputs of two models.

    A is the reference. The exit status is 1 if an output of B is further away than allowed.
    """
    relative = parse_tolerances("--rtol", rtol, RELATIVE)
    absolute = parse_tolerances("--atol", atol, 0.0)
    shapes = parse_shapes(input_shapes)

    from mpgraph import ir
    from mpgraph.runtime.compare import compare_models
    from mpgraph.runtime.data import input_specs, load_data

    first = ir.load(a)
    outputs = [value.name or "" for value in first.graph.outputs]
    relative.check_names("--rtol", outputs)
    absolute.check_names("--atol", outputs)
    feeds = load_data(data, input_specs(first), shapes=shapes, samples=samples)
    compared = compare_models(
        first, ir.load(b), feeds, per_layer=per_layer, emulate=emulate, target=target
    )
    bad = [one.name for one in compared.outputs if not passes(one, relative, absolute)]
    if as_json:
        print_json(
            {
                "passed": not bad,
                "failed": bad,
                "data": compared.label,
                "max_relative": compared.max_relative,
                "outputs": compared.outputs,
                "layers": compared.layers,
            }
        )
    else:
        _print_text(compared.outputs, compared.layers, compared.label, bad)
    return 1 if bad else 0


def _print_text(
    outputs: Sequence[Difference], layers: Sequence[Difference], label: str, bad: Sequence[str]
) -> None:
    if layers:
        print_table(("layer", *COLUMNS[1:]), [_row(one, "") for one in layers])
        click.echo()
    marks = {one.name: "differs" if one.name in bad else "ok" for one in outputs}
    print_table(("output", *COLUMNS[1:]), [_row(one, marks[one.name]) for one in outputs])
    click.echo(f"data: {label}")
    click.echo(f"{len(bad)} of {len(outputs)} outputs differ" if bad else "all outputs agree")


def _row(one: Difference, mark: str) -> tuple[str, ...]:
    return (
        one.name,
        f"{one.max_abs:.3g}",
        f"{one.max_relative:.3g}",
        f"{one.sqnr_db:.1f}",
        f"{one.cosine:.6f}",
        f"{one.nan_a}/{one.nan_b}",
        f"{one.inf_a}/{one.inf_b}",
        one.error or mark,
    )
