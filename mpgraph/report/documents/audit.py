"""An audit as a document for programs: `mpgraph audit --json`."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from mpgraph.auditing import AuditReport
from mpgraph.report.documents.schema import document_schema

__all__ = ["FORMAT", "audit_document", "audit_schema"]

FORMAT = 1
"""Changes when a reader of the former documents would misread new ones."""


def audit_document(report: AuditReport) -> dict[str, Any]:
    """Everything that an audit found out, with the number of this format."""
    return {
        "format": FORMAT,
        **{field.name: getattr(report, field.name) for field in fields(report)},
    }


def audit_schema() -> dict[str, Any]:
    """The JSON schema of what ``audit_document`` returns, made of the report's own classes."""
    return document_schema(AuditReport, "audit", FORMAT)
