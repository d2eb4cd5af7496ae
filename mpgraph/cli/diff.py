"""`mpgraph diff`: what changed from one model to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpgraph.cli.options import json_option
from mpgraph.cli.output import check_output, console, print_json, write_text
from mpgraph.cli.schema import schema_option

if TYPE_CHECKING:
    from mpgraph.auditing.diff import ModelDiff

__all__ = ["command"]


def _schema() -> dict[str, Any]:
    from mpgraph.report.documents import diff_schema

    return diff_schema()


@click.command("diff")
@click.argument("a", type=Path)
@click.argument("b", type=Path)
@click.option(
    "--target",
    "-t",
    help="Where both shall run: also say which nodes another provider runs (also --ep, "
    "--providers).",
)
@click.option(
    "--weights/--no-weights",
    default=True,
    show_default=True,
    help="Read and compare all weights, or only constants of up to 1 KiB.",
)
@click.option("--all", "whole", is_flag=True, help="List every change, not what fits the screen.")
@click.option("--html", type=Path, help="Also write both models side by side, one file.")
@json_option
@schema_option(_schema)
def command(
    a: Path,
    b: Path,
    target: str | None,
    weights: bool,
    whole: bool,
    html: Path | None,
    as_json: bool,
) -> int:
    """Say what changed from model A to model B, by node and by layer.

    Compared are operators, dtypes, storage and magnitudes of constants, attributes, operands,
    names, and with --target the providers; `mpgraph verify` compares results.

    The exit status is 0 where nothing changed, 1 where something did.

    \b
    mpgraph diff model.onnx model_fp16.onnx
    mpgraph diff model.onnx model_fp16.onnx --target cpu --html diff.html
    """
    if html is not None:
        check_output(html, a, b)

    from mpgraph.auditing.diff import diff_models

    diff = diff_models(a, b, target=target, weights=weights)
    if html is not None:
        _write_html(a, b, target, weights, html)
    _print(diff, whole, as_json)
    return 0 if diff.equal else 1


def _print(diff: ModelDiff, whole: bool, as_json: bool) -> None:
    if as_json:
        from mpgraph.report.documents import diff_document

        print_json(diff_document(diff))
        return
    from mpgraph.report.text import render_diff, render_whole_diff

    (render_whole_diff if whole else render_diff)(diff, console())


def _write_html(a: Path, b: Path, target: str | None, weights: bool, path: Path) -> None:
    """Write the page, for which the models are audited with all rules."""
    from mpgraph.auditing.job import audit_model
    from mpgraph.report.audit_html import diff_html

    before, after = (audit_model(model, target=target, weights=weights) for model in (a, b))
    write_text(path, diff_html(before, after))
