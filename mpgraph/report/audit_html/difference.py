"""The page of two audits side by side."""

from __future__ import annotations

from mpgraph.auditing import AuditReport
from mpgraph.auditing.diff import diff_reports
from mpgraph.auditing.graph_index import GraphIndex
from mpgraph.report.audit_html.audit import document
from mpgraph.report.audit_html.columns import Data, Numbers, Texts
from mpgraph.report.audit_html.levels import follow_levels, view_levels
from mpgraph.report.audit_html.page import page
from mpgraph.report.audit_html.payload import model_name, model_payload

__all__ = ["diff_html"]


def diff_html(before: AuditReport, after: AuditReport) -> str:
    """Two reports as one page: the same level of both models side by side, with what changed.

    Long levels of ``after`` are cut into the same segments as those of ``before``.
    """
    indexes = GraphIndex(before), GraphIndex(after)
    diff = diff_reports(before, after)
    match = diff.twins
    first = view_levels(before.layers, indexes[0])
    second = follow_levels(after.layers, indexes[1], first, match)
    found = [each for each in diff.changes if each.before or each.after]
    models = [
        model_payload(report, index, levels)
        for report, index, levels in zip((before, after), indexes, (first, second), strict=True)
    ]
    more: dict[str, Data] = {
        "match": Numbers(match),
        "changes": {
            "kind": Texts(each.kind for each in found),
            "before": Numbers(indexes[0].node_number(each.before) for each in found),
            "after": Numbers(indexes[1].node_number(each.after) for each in found),
            "old": Texts(each.old for each in found),
            "new": Texts(each.new for each in found),
        },
    }
    title = f"{model_name(before)} and {model_name(after)}: differences"
    return page(title, document(models, more))
