"""Files of node data for Model Explorer: dtypes, bytes of constants, findings.

The format is that of `GraphNodeData` in https://github.com/google-ai-edge/model-explorer
(src/server/package/src/model_explorer/node_data_builder.py), indexed by graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from mpgraph import ir
from mpgraph.auditing import AuditReport, Finding
from mpgraph.auditing.finding import Severity
from mpgraph.report.model_explorer.colours import (
    byte_thresholds,
    dtype_colour,
    severity_colour,
)
from mpgraph.report.model_explorer.node_ids import Place, Places, find_places

__all__ = ["METRICS", "node_data_files"]

_Results = Iterator[tuple[Place, dict[str, Any]]]
_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


def node_data_files(model: ir.Model, report: AuditReport) -> dict[str, dict[str, Any]]:
    """Node data by metric: Model Explorer takes one metric for each graph from a file.

    Args:
        model: The model that the report is about.
        report: What the audit found out.

    Returns:
        ``dtype``, ``bytes`` and ``findings``, each a document with an entry for each graph.
    """
    places = find_places(model)
    return {name: _document(metric(model, report, places), name) for name, metric in METRICS}


def _document(results: _Results, metric: str) -> dict[str, Any]:
    graphs: dict[str, dict[str, Any]] = {}
    for place, result in results:
        graphs.setdefault(place.graph, {})[place.item] = result
    return {
        graph: {"name": metric, "results": found, **_STYLES[metric]()}
        for graph, found in graphs.items()
    }


def _dtypes(model: ir.Model, report: AuditReport, places: Places) -> _Results:
    for node, fact in zip(ir.nodes(model), report.nodes, strict=True):
        if fact.dtype and node in places.nodes:
            yield places.nodes[node], _dtype(fact.dtype)
    dtypes = {(value.graph, value.name): value.dtype for value in report.values}
    for scope in ir.graphs(model):
        for value in _interface(scope):
            dtype = dtypes.get((scope.path, value.name or ""), "")
            if dtype and value in places.values:
                yield places.values[value], _dtype(dtype)


def _interface(scope: ir.GraphScope) -> Iterable[ir.Value]:
    graph = scope.graph
    return (*graph.inputs, *graph.initializers.values(), *graph.outputs)


def _dtype(dtype: str) -> dict[str, Any]:
    return {"value": dtype, "bgColor": dtype_colour(dtype)}


def _bytes(model: ir.Model, report: AuditReport, places: Places) -> _Results:
    """Of the constants that a node reads; those of several readers count at each."""
    for node, fact in zip(ir.nodes(model), report.nodes, strict=True):
        if fact.parameter_bytes and node in places.nodes:
            yield places.nodes[node], {"value": fact.parameter_bytes}


def _findings(model: ir.Model, report: AuditReport, places: Places) -> _Results:
    nodes = {fact.key: node for node, fact in zip(ir.nodes(model), report.nodes, strict=True)}
    values: dict[str | None, Place] = {}
    for value, drawn in places.values.items():
        values.setdefault(value.name, drawn)
    counts: dict[Place, Counter[Severity]] = {}
    for finding in report.hazards:
        place = _place(finding, places, nodes, values)
        if place is not None:
            counts.setdefault(place, Counter())[finding.severity] += 1
    for drawn, found in counts.items():
        worst = next(severity for severity in _SEVERITIES if found[severity])
        yield drawn, {"value": found.total(), "bgColor": severity_colour(worst)}


def _place(
    finding: Finding,
    places: Places,
    nodes: Mapping[str, ir.Node],
    values: Mapping[str | None, Place],
) -> Place | None:
    """That of the node, or of the constant or graph input that no node writes."""
    if finding.key:
        return places.nodes.get(nodes[finding.key])
    return values.get(finding.value)


METRICS = (("dtype", _dtypes), ("bytes", _bytes), ("findings", _findings))
"""What is told about nodes, each with what finds it."""

_STYLES: Mapping[str, Callable[[], dict[str, Any]]] = {
    "dtype": lambda: {
        "showExpandedSummaryOnGroupNode": True,
        "showLabelCountColumnsInChildrenStatsTable": True,
    },
    "bytes": lambda: {"thresholds": byte_thresholds()},
    "findings": dict,
}
