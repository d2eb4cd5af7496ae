"""What audit and diff give to programs: JSON documents, and the schemas that are published."""

from mpgraph.report.documents.audit import audit_document, audit_schema
from mpgraph.report.documents.diff import diff_document, diff_schema

__all__ = ["audit_document", "audit_schema", "diff_document", "diff_schema"]
