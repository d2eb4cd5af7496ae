"""`mpgraph compile`: a model compiled ahead of time for a target."""

from __future__ import annotations

from pathlib import Path

import click

from mpgraph.cli.options import json_option, model_argument
from mpgraph.cli.output import check_output, print_json
from mpgraph.cli.settings import parse_settings, set_option

__all__ = ["command"]


@click.command("compile")
@model_argument
@click.option(
    "--output",
    "-o",
    type=Path,
    help="The file to write.  [default: {stem}_{target}.onnx beside the input]",
)
@click.option(
    "--target",
    "-t",
    required=True,
    help="What to compile for: openvino or tensorrt (also --ep, --providers).",
)
@set_option
@json_option
def command(
    model: Path, output: Path | None, target: str, assignments: tuple[str, ...], as_json: bool
) -> None:
    """Compile MODEL ahead of time.

    The result is an ONNX file with EPContext nodes. It loads faster than the model, and only with
    the same provider, release and kind of device.
    """
    settings = parse_settings(assignments)

    from mpgraph.report.units import byte_text
    from mpgraph.runtime.compiled import compile_model, require_compiler

    provider = require_compiler(target)
    path = output or model.with_name(f"{model.stem}_{provider.target}.onnx")
    check_output(path, model)
    pieces = compile_model(model, path, target=provider.target, settings=settings)
    size = path.stat().st_size
    if as_json:
        print_json(
            {"path": path, "target": provider.target, "compiled_pieces": pieces, "bytes": size}
        )
        return
    noun = "piece" if pieces == 1 else "pieces"
    click.echo(f"{path}: {pieces} compiled {noun} for {provider.target}, {byte_text(size)}")
