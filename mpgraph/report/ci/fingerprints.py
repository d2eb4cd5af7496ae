"""What tells a finding from the others, and is the same in the next run."""

from __future__ import annotations

import hashlib
from collections import Counter

from mpgraph.auditing import AuditReport, Finding, NodeFact

__all__ = ["fingerprints"]

_LENGTH = 16


def fingerprints(report: AuditReport) -> list[str]:
    """One text for each finding: a hash of the rule and the place, and a number.

    The place is the graph, the value and the node by their names; of a node without a name it is
    what the node writes. Positions, evidence and dtypes of other values do not count. Findings of
    the same hash are numbered from 1.
    """
    nodes = {node.key: node for node in report.nodes}
    seen: Counter[str] = Counter()
    found = []
    for finding in report.hazards:
        parts = _identity(finding, nodes.get(finding.key))
        text = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_LENGTH]
        seen[text] += 1
        found.append(f"{text}:{seen[text]}")
    return found


def _identity(finding: Finding, node: NodeFact | None) -> tuple[str, ...]:
    graph, op_type, name = "", "", ""
    if node is not None:
        graph, op_type, name = node.graph, node.op_type, node.name or " ".join(node.outputs)
    return finding.code, finding.finding, graph, finding.value, op_type, name
