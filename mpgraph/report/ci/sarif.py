"""An audit as a SARIF 2.1.0 log, which code scanning and editors read.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mpgraph.auditing import AuditReport, Finding, NodeFact
from mpgraph.report.ci.fingerprints import fingerprints
from mpgraph.report.ci.location import model_uri
from mpgraph.report.ci.sarif_rules import rule_descriptors

__all__ = ["sarif_log"]

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_NO_LINES = {"startLine": 1}
"""A model has no lines; code scanning of GitHub drops results without one."""


def sarif_log(report: AuditReport, version: str) -> dict[str, Any]:
    """One run: the rules, the findings with where they are in the model, what was not audited.

    Each result has the file as its physical location, and the value, the node and the module path
    that it is about as logical ones. Its fingerprint does not depend on measured numbers, nor on
    what else is in the model, so that the same finding is known again in a later run.

    Args:
        report: What ``mpgraph.audit`` returned.
        version: The version of mpgraph.
    """
    rules = rule_descriptors()
    places = {rule["id"]: index for index, rule in enumerate(rules)}
    driver = {"name": "mpgraph", "version": version, "rules": rules}
    artifact = {"uri": model_uri(report.model), "index": 0}
    prints = fingerprints(report)
    nodes = {node.key: node for node in report.nodes}
    results = [
        _result(one, places[one.code], artifact, list(_logical(one, nodes.get(one.key))), mark)
        for one, mark in zip(report.hazards, prints, strict=True)
    ]
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "invocations": [_invocation(report)],
                "artifacts": [{"location": artifact, "roles": ["analysisTarget"]}],
                "results": results,
            }
        ],
    }


def _invocation(report: AuditReport) -> dict[str, Any]:
    """That the audit ran, and what it could not look at."""
    notes = [
        {
            "level": "warning",
            "message": {"text": f"not audited: {missing.where}: {missing.reason}"},
        }
        for missing in report.not_audited
    ]
    return {"executionSuccessful": True, "toolExecutionNotifications": notes}


def _result(
    finding: Finding,
    rule: int,
    artifact: Mapping[str, Any],
    places: Sequence[Mapping[str, str]],
    fingerprint: str,
) -> dict[str, Any]:
    location = {
        "physicalLocation": {"artifactLocation": artifact, "region": _NO_LINES},
        "logicalLocations": places,
    }
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.severity,
        "message": {"text": _message(finding)},
        "locations": [location],
        "fingerprints": {"mpgraph/v1": fingerprint},
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
        "properties": {
            "finding": finding.finding,
            "evidence": finding.evidence,
            "suggestion": finding.suggestion,
            "measured": finding.measured,
            "fixable": finding.fixable,
        },
    }


def _message(finding: Finding) -> str:
    where = finding.value or finding.node
    place = f" ({where})" if where else ""
    return f"{finding.finding}{place}: {finding.evidence}. {_sentence(finding.suggestion)}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _logical(finding: Finding, node: NodeFact | None) -> Iterator[dict[str, str]]:
    """The value, the node and the module, those that there are, with their full names."""
    graph = "" if node is None else node.graph
    name = "" if node is None else node.name or node.key
    for kind, own in (("value", finding.value), ("node", name)):
        if own:
            whole = f"{graph}/{own.lstrip('/')}" if graph else own
            yield {"name": own, "fullyQualifiedName": whole, "kind": kind}
    if finding.scope:
        last = finding.scope.rpartition("/")[2]
        yield {"name": last, "fullyQualifiedName": finding.scope, "kind": "module"}
