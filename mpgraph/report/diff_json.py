"""What changed from one model to another, as a document for programs."""

from __future__ import annotations

from typing import Any

from mpgraph.auditing import AuditReport
from mpgraph.auditing.diff import ModelDiff

__all__ = ["FORMAT", "diff_document"]

FORMAT = 1
"""Changes when a reader of the former documents would misread new ones."""


def diff_document(diff: ModelDiff) -> dict[str, Any]:
    """Counts, sums of both models, every change, and the tree of changed layers."""
    return {
        "format": FORMAT,
        "equal": diff.equal,
        "before": _side(diff.before),
        "after": _side(diff.after),
        "kinds": dict(diff.kinds),
        "changes": diff.changes,
        "layers": diff.layers,
    }


def _side(report: AuditReport) -> dict[str, Any]:
    return {
        "model": report.model,
        "target": report.target,
        "opset_imports": report.opset_imports,
        "nodes": len(report.nodes),
        "totals": report.totals,
    }
