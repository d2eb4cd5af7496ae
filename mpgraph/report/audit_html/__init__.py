"""An audit as one self-contained page: layer tree, picture of each level, tables, search."""

from mpgraph.report.audit_html.audit import audit_html
from mpgraph.report.audit_html.difference import diff_html

__all__ = ["audit_html", "diff_html"]
