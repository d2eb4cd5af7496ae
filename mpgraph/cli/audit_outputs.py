"""What an audit gives on the command line: on stdout in one of several forms, and as files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import mpgraph
from mpgraph.cli.output import check_output, console, print_json, write_text

if TYPE_CHECKING:
    from mpgraph.auditing import AuditReport

__all__ = [
    "FORMATS",
    "check_outputs",
    "difference",
    "node_data_paths",
    "print_report",
    "write_annotated",
    "write_html",
    "write_node_data",
]

FORMATS = ("text", "json", "sarif", "github")
METRICS = ("bytes", "findings")


def check_outputs(model: Path, outputs: Sequence[Path]) -> None:
    """Refuse output paths before any work is done for them.

    Raises:
        UsageError: Two of them are the same.
        OutputError: One is the model, or cannot be written.
    """
    seen: set[Path] = set()
    for path in outputs:
        if path.absolute() in seen:
            raise click.UsageError(f"two outputs would be written to {path}")
        seen.add(path.absolute())
        check_output(path, model)


def node_data_paths(path: Path) -> dict[str, Path]:
    """The files of --model-explorer, by metric: dtypes in the one given, the rest beside it."""
    beside = {name: path.with_name(f"{path.stem}_{name}{path.suffix}") for name in METRICS}
    return {"dtype": path, **beside}


def print_report(report: AuditReport, form: str) -> None:
    """Print an audit in one of the ``FORMATS``."""
    if form == "json":
        from mpgraph.report.documents import audit_document

        print_json(audit_document(report))
    elif form == "sarif":
        from mpgraph.report.ci import sarif_log

        print_json(sarif_log(report, mpgraph.__version__))
    elif form == "github":
        from mpgraph.report.ci import github_annotations

        click.echo(github_annotations(report), nl=False)
    else:
        from mpgraph.report.text import render_audit

        render_audit(report, console())


def write_html(report: AuditReport, path: Path) -> None:
    """Write the page of --html."""
    from mpgraph.report.audit_html import audit_html

    write_text(path, audit_html(report))


def write_node_data(model: Path, report: AuditReport, path: Path) -> None:
    """Write the files of --model-explorer."""
    from mpgraph import ir
    from mpgraph.report.model_explorer import node_data_files

    loaded, _ = ir.load_with_refusals(model)
    documents = node_data_files(loaded, report)
    paths = node_data_paths(path)
    for metric, document in documents.items():
        write_text(paths[metric], _json(document))
    click.echo(f"node data written to {', '.join(map(str, paths.values()))}", err=True)


def write_annotated(model: Path, path: Path) -> None:
    """Write the model of --annotate, with weights as they are, one at a time."""
    from mpgraph import ir
    from mpgraph.passmgr import Facts, VerifyEach, load_pipeline, run_pipeline
    from mpgraph.passmgr.pipelines import ANNOTATE

    loaded = ir.load(model)
    run_pipeline(loaded, load_pipeline(ANNOTATE), Facts(), (VerifyEach(),))
    ir.save(loaded, path)
    click.echo(f"annotated model written to {path}", err=True)


def difference(model: Path, report: AuditReport) -> str:
    """The printed IR before and after the repairs, as a unified diff; empty where nothing is."""
    from difflib import unified_diff

    from mpgraph import ir
    from mpgraph.auditing.fix import fix_model

    loaded = ir.load(model)
    before = ir.print_model(loaded, node_names=True)
    fix_model(loaded, report.hazards)
    after = ir.print_model(loaded, node_names=True)
    lines = unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        str(model),
        f"{model} (fixed)",
    )
    return "".join(lines)


def _json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
