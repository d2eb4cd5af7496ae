"""`mpgraph verify`: how far two models are apart on the same inputs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpgraph.cli.options import (
    RANDOM,
    data_option,
    json_option,
    samples_option,
    shapes_option,
    target_option,
)
from mpgraph.cli.output import check_output, console, print_json, write_text
from mpgraph.cli.shapes import parse_shapes
from mpgraph.cli.tolerance import parse_tolerances, passes

if TYPE_CHECKING:
    from mpgraph import ir

__all__ = ["command"]

RELATIVE = 1e-2
_EMULATED = "Every float16, bfloat16 and float8 value rounded as a GPU would (--emulate)."
_IN_STEPS = "Sums and functions of float16 in the steps of {target}, each of which rounds."


@click.command("verify")
@click.argument("a", type=Path)
@click.argument("b", type=Path)
@data_option("Run both models on these inputs.  [default: random]")
@samples_option
@shapes_option
@click.option("--per-layer", is_flag=True, help="Also compare the values inside, by name.")
@click.option(
    "--emulate/--no-emulate",
    default=None,
    help="Round every float16, bfloat16 and float8 value as a GPU would; the CPU provider computes "
    "many of them in float32.  [default: --emulate on cpu if a model holds such values]",
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
@click.option(
    "--html", type=Path, metavar="FILE", help="Write a page with the error of every layer by depth."
)
@json_option
def command(
    a: Path,
    b: Path,
    data: str | None,
    samples: int | None,
    input_shapes: tuple[str, ...],
    per_layer: bool,
    emulate: bool | None,
    target: str,
    rtol: tuple[str, ...],
    atol: tuple[str, ...],
    html: Path | None,
    as_json: bool,
) -> int:
    """Compare the outputs of two models.

    A is the reference. The exit status is 1 if an output of B is further away than allowed.
    """
    if html is not None:
        check_output(html, a, b)
    relative = parse_tolerances("--rtol", rtol, RELATIVE)
    absolute = parse_tolerances("--atol", atol, 0.0)
    shapes = parse_shapes(input_shapes)

    from mpgraph import ir
    from mpgraph.runtime.compare import compare_models
    from mpgraph.runtime.data import input_specs, load_data
    from mpgraph.targets import get_target

    first, second = ir.load(a), ir.load(b)
    outputs = [value.name or "" for value in first.graph.outputs]
    relative.check_names("--rtol", outputs)
    absolute.check_names("--atol", outputs)
    feeds = load_data(data or RANDOM, input_specs(first), shapes=shapes, samples=samples)
    if emulate is None:
        emulate = get_target(target).name == "cpu" and (_holds_low(first) or _holds_low(second))
    compared = compare_models(
        first,
        second,
        feeds,
        per_layer=per_layer or html is not None,
        emulate=emulate,
        target=target,
    )
    bad = [one.name for one in compared.outputs if not passes(one, relative, absolute)]
    limit = relative.default
    basis = [_EMULATED if emulate else f"Computed as {target} does (--no-emulate)."]
    if emulate and not get_target(target).arithmetic.rounds_once:
        basis.append(_IN_STEPS.format(target=get_target(target).name))
    if data is None:
        basis.insert(0, "Random data, as no --data was given: real inputs can behave otherwise.")
    if html is not None:
        from mpgraph.report.html_comparison import comparison_html

        notes = [*basis, f"data: {compared.label}"]
        title = f"{a.name} and {b.name}"
        write_text(
            html, comparison_html(compared, title=title, notes=notes, failed=bad, limit=limit)
        )
    if as_json:
        diverges = compared.first_divergence(limit)
        print_json(
            {
                "passed": not bad,
                "failed": bad,
                "data": compared.label,
                "emulated": emulate,
                "max_relative": compared.max_relative,
                "outputs": compared.outputs,
                "layers": compared.layers,
                "first_divergence": diverges and diverges.name,
                "not_compared": compared.not_compared,
            }
        )
        return 1 if bad else 0

    from mpgraph.report.text import render_comparison

    for line in basis:
        click.echo(line)
    click.echo()
    render_comparison(compared, console(), failed=bad, limit=limit)
    if bad and not compared.layers:
        click.echo("--per-layer shows where it begins, --html FILE draws it")
    if html is not None:
        click.echo(f"written to {html}")
    return 1 if bad else 0


def _holds_low(model: ir.Model) -> bool:
    """Whether a model has values of a low dtype, which the CPU provider does not always round."""
    from mpgraph import ir
    from mpgraph.analysis import infer_types
    from mpgraph.runtime.emulate import LOW

    flow = infer_types(model)
    return any(
        flow.dtype(value) in LOW
        for node in ir.nodes(model)
        for value in (*node.inputs, *node.outputs)
    )
