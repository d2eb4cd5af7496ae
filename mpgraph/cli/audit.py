"""`mpgraph audit`: what a model computes in which precision, and what is wrong with that."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpgraph.cli.audit_outputs import (
    FORMATS,
    check_outputs,
    difference,
    node_data_paths,
    print_report,
    write_annotated,
    write_html,
    write_node_data,
)
from mpgraph.cli.audit_rules import explain_option, failing, split_names
from mpgraph.cli.explanation import read_plan
from mpgraph.cli.options import data_option, model_argument
from mpgraph.cli.schema import schema_option

if TYPE_CHECKING:
    from mpgraph.auditing import AuditReport, Finding
    from mpgraph.plan import Plan
    from mpgraph.quant import QuantizationPlan

__all__ = ["command"]


def _schema() -> dict[str, Any]:
    from mpgraph.report.documents import audit_schema

    return audit_schema()


@click.command("audit")
@model_argument
@click.option(
    "--target",
    "-t",
    help="Where the model shall run: also say where each node runs there, and what does not "
    "(also --ep, --providers).",
)
@data_option("Measure the ranges of values on these inputs.")
@click.option(
    "--weights/--no-weights",
    default=True,
    show_default=True,
    help="Read all weights, or only constants of up to 1 KiB; the latter creates no session.",
)
@click.option(
    "--select",
    multiple=True,
    metavar="CODE,...",
    help="Run these rules only: MPG101, MPG1, a kind.",
)
@click.option("--ignore", multiple=True, metavar="CODE,...", help="Leave these rules out.")
@click.option(
    "--fail-on",
    multiple=True,
    metavar="KIND,...",
    help="End with status 1 on findings of these kinds or codes, or as bad as `error`, `warning` "
    "or `note`.",
)
@click.option("--fix", is_flag=True, help="Repair what is safe to repair, and write the model.")
@click.option(
    "--output",
    "-o",
    type=Path,
    help="Where --fix writes.  [default: MODEL_fixed.onnx beside the model]",
)
@click.option(
    "--plan",
    type=Path,
    help="Say what this plan of `convert --dump-plan` decided about each node (--html, --json).",
)
@click.option("--diff", is_flag=True, help="Print what --fix would change; nothing is written.")
@click.option("--html", type=Path, help="Also write a report to look at, one file, no network.")
@click.option(
    "--model-explorer",
    type=Path,
    metavar="FILE.json",
    help="Also write node data for Model Explorer: dtypes, and beside it FILE_bytes.json and "
    "FILE_findings.json.",
)
@click.option(
    "--annotate",
    type=Path,
    metavar="FILE.onnx",
    help="Also write the model with the dtype of each value and node, and known reasons, in its "
    "metadata, which Netron shows.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="What to print: a screen, all facts, a SARIF log for code scanning, or annotations of "
    "GitHub Actions.",
)
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@explain_option
@schema_option(_schema)
def command(
    model: Path,
    target: str | None,
    data: str | None,
    weights: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fail_on: tuple[str, ...],
    fix: bool,
    output: Path | None,
    plan: Path | None,
    diff: bool,
    html: Path | None,
    model_explorer: Path | None,
    annotate: Path | None,
    form: str,
    as_json: bool,
) -> int:
    """Say what a model computes in which precision, and what is wrong with that.

    The exit status is 1 if a finding is one that --fail-on names.

    \b
    mpgraph audit model.onnx --target cpu --data inputs.npz
    mpgraph audit model.onnx --fail-on error,constant-overflow --json
    mpgraph audit model.onnx --format sarif > audit.sarif
    mpgraph audit --explain MPG101
    """
    if output is not None and not fix:
        raise click.UsageError("--output is where --fix writes: give --fix too")
    source = model if model.name else model.absolute()
    path = output or source.with_name(f"{source.stem}_fixed.onnx")
    decided = None if plan is None else read_plan(plan)
    also = [one for one in (html, annotate) if one is not None]
    also += node_data_paths(model_explorer).values() if model_explorer is not None else ()
    check_outputs(model, [path, *also] if fix and not diff else also)
    is_failure = failing(split_names(fail_on))

    from mpgraph.auditing.job import audit_model

    report = audit_model(
        model,
        target=target,
        data=data,
        weights=weights,
        select=split_names(select),
        ignore=split_names(ignore),
    )
    if decided is not None:
        report = _with_decisions(report, *decided)
    if html is not None:
        write_html(report, html)
    if model_explorer is not None:
        write_node_data(model, report, model_explorer)
    if annotate is not None:
        write_annotated(model, annotate)
    left: Sequence[Finding] = report.hazards
    if diff:
        click.echo(difference(model, report), nl=False)
    else:
        print_report(report, "json" if as_json else form)
        if fix:
            left = _repair(model, report, path)
    return 1 if any(map(is_failure, left)) else 0


def _with_decisions(
    report: AuditReport, plan: Plan, quantization: QuantizationPlan | None
) -> AuditReport:
    from mpgraph.auditing.decisions import with_decisions

    return with_decisions(report, plan, quantization)


def _repair(model: Path, report: AuditReport, path: Path) -> tuple[Finding, ...]:
    """Write the repaired model; returns the findings that are left."""
    from mpgraph import ir
    from mpgraph.auditing.fix import fix_model, fix_passes

    loaded = ir.load(model)
    if not fix_model(loaded, report.hazards):
        click.echo("nothing to repair, nothing written", err=True)
        return report.hazards
    ir.save(loaded, path)
    click.echo(f"repaired by {', '.join(fix_passes(report.hazards))}, written to {path}", err=True)
    return tuple(finding for finding in report.hazards if not finding.fixable)
