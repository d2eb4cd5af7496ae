"""What changed from one model to another as a document for programs: `mpgraph diff --json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from mpgraph.auditing import AuditReport, NotAudited, Totals
from mpgraph.auditing.changed_layers import ChangedLayer
from mpgraph.auditing.changes import Change
from mpgraph.auditing.diff import ModelDiff
from mpgraph.report.documents.schema import document_schema

__all__ = ["FORMAT", "diff_document", "diff_schema"]

FORMAT = 1
"""Changes when a reader of the former documents would misread new ones."""


@dataclass(frozen=True, slots=True)
class ComparedModel:
    """One of the two models.

    Attributes:
        model: What was compared: a path, or the name of the graph.
        target: The target that both are compared on; empty where none was asked for.
        opset_imports: Opset versions by domain.
        nodes: How many nodes it has, subgraphs and functions included.
        totals: Sums over the whole model.
        not_audited: What could not be looked at, with reasons.
    """

    model: str
    target: str
    opset_imports: Mapping[str, int]
    nodes: int
    totals: Totals
    not_audited: tuple[NotAudited, ...]


@dataclass(frozen=True, slots=True)
class DiffDocument:
    """What changed from one model to another.

    Attributes:
        equal: Whether nothing changed.
        before: The first model.
        after: The second model.
        kinds: How many changes there are of each kind.
        changes: What changed: inputs and outputs first, then nodes in the order of the second
            model, removed nodes last.
        layers: The root of the tree of layers in which something changed.
    """

    equal: bool
    before: ComparedModel
    after: ComparedModel
    kinds: Mapping[str, int]
    changes: tuple[Change, ...]
    layers: ChangedLayer


def diff_document(diff: ModelDiff) -> dict[str, Any]:
    """Counts, sums of both models, every change, and the tree of changed layers."""
    document = DiffDocument(
        equal=diff.equal,
        before=_side(diff.before),
        after=_side(diff.after),
        kinds=dict(diff.kinds),
        changes=diff.changes,
        layers=diff.layers,
    )
    return {
        "format": FORMAT,
        **{field.name: getattr(document, field.name) for field in fields(document)},
    }


def diff_schema() -> dict[str, Any]:
    """The JSON schema of what ``diff_document`` returns, made of the classes it consists of."""
    return document_schema(DiffDocument, "diff", FORMAT)


def _side(report: AuditReport) -> ComparedModel:
    return ComparedModel(
        model=report.model,
        target=report.target,
        opset_imports=report.opset_imports,
        nodes=len(report.nodes),
        totals=report.totals,
        not_audited=report.not_audited,
    )
