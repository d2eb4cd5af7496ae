"""The data of a page: an audit report as columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import PurePath

from mpgraph.auditing import AuditReport, Totals
from mpgraph.auditing.facts import Range
from mpgraph.auditing.graph_index import GraphIndex
from mpgraph.report.audit_html.columns import Data, Numbers, Texts
from mpgraph.report.audit_html.levels import Level

__all__ = ["model_name", "model_payload"]

_KINDS = ("input", "output", "initializer", "intermediate")
_LEVEL_KINDS = ("layer", "graph", "segment")
# One character stands for the binary logarithm of a count, which fits 62 of them.
_HEIGHTS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def model_payload(report: AuditReport, index: GraphIndex, model: Level) -> dict[str, Data]:
    """What the page knows of one report; nodes, values and levels refer to each other by number."""
    ranges: list[Data] = []
    return {
        "head": _head(report),
        "nodes": _nodes(report, index),
        "values": _values(index, ranges),
        "weights": _weights(report, index, ranges),
        "casts": _casts(report, index),
        "quantization": _quantization(report, index),
        "findings": _findings(report, index),
        "levels": _levels(model),
        "ranges": ranges,
    }


def model_name(report: AuditReport) -> str:
    """The name of the file, without its folder."""
    return PurePath(report.model).name or report.model or "model"


def _head(report: AuditReport) -> dict[str, Data]:
    placement = report.placement
    return {
        "model": model_name(report),
        "producer": report.producer,
        "ir_version": report.ir_version,
        "opsets": dict(report.opset_imports),
        "target": report.target,
        "data": report.data,
        "samples": report.samples,
        "totals": _totals(report.totals),
        "not_audited": [[each.where, each.reason] for each in report.not_audited],
        "placement": None
        if placement is None
        else {
            "provider": placement.provider,
            "profiled": placement.profiled,
            "casts": len(placement.inserted_casts),
            "copies": len(placement.copies),
        },
    }


def _totals(totals: Totals) -> dict[str, Data]:
    found: dict[str, Data] = {}
    for each in fields(totals):
        value = getattr(totals, each.name)
        found[each.name] = dict(value) if isinstance(value, Mapping) else value
    return found


def _nodes(report: AuditReport, index: GraphIndex) -> dict[str, Data]:
    nodes = report.nodes
    placement = report.placement
    placed = {} if placement is None else {node.key: node for node in placement.nodes}
    states = [placed.get(node.key) for node in nodes]
    return {
        "name": Texts(node.name for node in nodes),
        "op": Texts(node.op_type for node in nodes),
        "domain": Texts(node.domain for node in nodes),
        "graph": Texts(node.graph for node in nodes),
        "place": Texts(node.key.rpartition("#")[2] for node in nodes),
        "scope": Texts(node.scope for node in nodes),
        "dtype": Texts(node.dtype for node in nodes),
        "parameters": Numbers(node.parameters for node in nodes),
        "bytes": Numbers(node.parameter_bytes for node in nodes),
        "work": Numbers(node.multiply_accumulates for node in nodes),
        "origin": Texts(node.origin for node in nodes),
        "decision": Texts(node.decision for node in nodes),
        "provider": Texts(node.provider for node in nodes),
        "placement": Texts(node.placement for node in nodes),
        "expected": Texts(each.expected if each else "" for each in states),
        "reason": Texts(each.reason if each else "" for each in states),
        "kernels": Texts(
            ", ".join(each.kernels) if each and each.state == "fused" else "" for each in states
        ),
        "order": Numbers(index.order),
        "inputs": index.inputs,
        "outputs": index.outputs,
    }


def _values(index: GraphIndex, ranges: list[Data]) -> dict[str, Data]:
    values = index.values
    return {
        "name": Texts(value.name for value in values),
        "graph": Texts(value.graph for value in values),
        "kind": Numbers(_KINDS.index(value.kind) for value in values),
        "type": Texts(value.type for value in values),
        "dtype": Texts(value.dtype for value in values),
        "shape": Texts(_shape(value.shape) for value in values),
        "range": _range_numbers((value.range for value in values), ranges),
    }


def _weights(report: AuditReport, index: GraphIndex, ranges: list[Data]) -> dict[str, Data]:
    weights = report.weights
    return {
        "value": Numbers(index.value_number(each.graph, each.name) for each in weights),
        "stored": Texts(each.stored for each in weights),
        "used": Texts(", ".join(each.used) for each in weights),
        "elements": Numbers(each.elements for each in weights),
        "bytes": Numbers(each.nbytes for each in weights),
        "consumers": Numbers(each.consumers for each in weights),
        "range": _range_numbers((each.range for each in weights), ranges),
    }


def _casts(report: AuditReport, index: GraphIndex) -> dict[str, Data]:
    casts = report.casts
    return {
        "node": Numbers(index.node_number(each.key) for each in casts),
        "source": Texts(each.source for each in casts),
        "target": Texts(each.target for each in casts),
        "effect": Texts(each.effect for each in casts),
        "consumers": Numbers(each.consumers for each in casts),
        "origin": Texts(each.origin for each in casts),
    }


def _quantization(report: AuditReport, index: GraphIndex) -> dict[str, Data]:
    facts = report.quantization
    return {
        "node": Numbers(index.node_number(each.key) for each in facts),
        "value": Texts(each.value for each in facts),
        "dtype": Texts(each.dtype for each in facts),
        "granularity": Texts(each.granularity for each in facts),
        "axis": Numbers(each.axis for each in facts),
        "symmetric": Numbers(
            None if each.symmetric is None else int(each.symmetric) for each in facts
        ),
        "low": Numbers(_rounded(each.scale_low) for each in facts),
        "high": Numbers(_rounded(each.scale_high) for each in facts),
    }


def _findings(report: AuditReport, index: GraphIndex) -> dict[str, Data]:
    found = report.hazards
    return {
        "node": Numbers(index.node_number(each.key) if each.key else -1 for each in found),
        "where": Texts(each.node for each in found),
        "measured": Numbers(int(each.measured) for each in found),
        "fixable": Numbers(int(each.fixable) for each in found),
        **{
            name: Texts(getattr(each, name) for each in found)
            for name in (
                "code",
                "kind",
                "finding",
                "severity",
                "value",
                "scope",
                "evidence",
                "suggestion",
            )
        },
    }


def _levels(model: Level) -> dict[str, Data]:
    rows = list(_preorder(model, -1, []))
    levels = [level for level, _ in rows]
    return {
        "name": Texts(level.name for level in levels),
        "path": Texts(level.path for level in levels),
        "kind": Numbers(_LEVEL_KINDS.index(level.kind) for level in levels),
        "parent": Numbers(parent for _, parent in rows),
        "owner": Numbers(level.owner for level in levels),
        "nodes": [list(level.nodes) for level in levels],
        "parameters": [_by_dtype(level.totals, "parameters") for level in levels],
        "bytes": [_by_dtype(level.totals, "weight_bytes") for level in levels],
        "work": [_by_dtype(level.totals, "multiply_accumulates") for level in levels],
    }


def _preorder(level: Level, parent: int, seen: list[None]) -> Iterator[tuple[Level, int]]:
    own = len(seen)
    seen.append(None)
    yield level, parent
    for child in level.children:
        yield from _preorder(child, own, seen)


def _by_dtype(totals: Totals | None, name: str) -> Data:
    return 0 if totals is None else dict(getattr(totals, name)) or 0


def _shape(shape: Sequence[int | str | None] | None) -> str:
    if shape is None:
        return ""
    return f"[{', '.join('?' if extent is None else str(extent) for extent in shape)}]"


def _range_numbers(found: Iterable[Range | None], ranges: list[Data]) -> Numbers:
    numbers = Numbers()
    for each in found:
        numbers.append(-1 if each is None else len(ranges))
        if each is not None:
            ranges.append(_range(each))
    return numbers


def _range(found: Range) -> Data:
    """Extremes with five digits, counts, and a character per octave from the lowest one."""
    low = min(found.octaves, default=0)
    high = max(found.octaves, default=low - 1)
    counts = (found.octaves.get(exponent, 0) for exponent in range(low, high + 1))
    return [
        _rounded(found.minimum),
        _rounded(found.maximum),
        _rounded(found.smallest),
        found.nonfinite,
        found.zeros,
        low,
        "".join(_HEIGHTS[min(int(count).bit_length(), len(_HEIGHTS) - 1)] for count in counts),
    ]


def _rounded(number: float | None) -> float | None:
    if number is None or not math.isfinite(number):
        return None
    return float(f"{number:.5g}")
