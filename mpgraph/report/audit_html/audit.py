"""The page of one audit."""

from __future__ import annotations

from mpgraph import ir
from mpgraph.auditing import AuditReport
from mpgraph.auditing.graph_index import GraphIndex
from mpgraph.report.audit_html.columns import Data, encoded, gather_texts
from mpgraph.report.audit_html.levels import view_levels
from mpgraph.report.audit_html.page import page
from mpgraph.report.audit_html.payload import model_name, model_payload
from mpgraph.report.audit_html.strings import StringTable

__all__ = ["audit_html", "document"]

_FORMAT = 1
_FLOATS = (
    ir.DataType.FLOAT,
    ir.DataType.FLOAT16,
    ir.DataType.BFLOAT16,
    ir.DataType.FLOAT8E4M3FN,
    ir.DataType.FLOAT8E5M2,
)


def audit_html(report: AuditReport) -> str:
    """The report as one page that needs nothing else and asks for nothing.

    It holds a tree of layers beside a picture of the selected level, the details of each node,
    tables of casts, ranges, placement and findings, and a search with filters.
    """
    index = GraphIndex(report)
    model = model_payload(report, index, view_levels(report.layers, index))
    return page(f"{model_name(report)}: audit", document([model], {}))


def document(models: list[dict[str, Data]], more: dict[str, Data]) -> dict[str, Data]:
    """The data of a page about one model or two, its texts in one table."""
    table = StringTable()
    for each in (*models, more):
        gather_texts(each, table)
    return {
        "format": _FORMAT,
        "strings": table.encoded(),
        "limits": {ir.dtype_name(dtype): _limits(dtype) for dtype in _FLOATS},
        "models": [encoded(model, table) for model in models],
        **{key: encoded(each, table) for key, each in more.items()},
    }


def _limits(dtype: ir.DataType) -> list[float]:
    limits = ir.limits(dtype)
    return [limits.max, limits.smallest_normal, limits.smallest_subnormal]
