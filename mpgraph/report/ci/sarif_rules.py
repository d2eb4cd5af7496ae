"""The rules of the audit as SARIF describes rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mpgraph.auditing.finding import Severity
from mpgraph.auditing.rules import RULES, Rule

__all__ = ["rule_descriptors"]

_GROUPS: Mapping[str, str] = {
    "1": "numerics",
    "2": "casts",
    "3": "quantization",
    "4": "target",
    "5": "model file",
}
_PROBLEMS: Mapping[Severity, str] = {
    "error": "error",
    "warning": "warning",
    "note": "recommendation",
}
"""What code scanning of GitHub calls severities."""


def rule_descriptors() -> list[dict[str, Any]]:
    """All rules, in the order of their codes."""
    return [_descriptor(rule) for rule in RULES.values()]


def _descriptor(rule: Rule) -> dict[str, Any]:
    paragraphs = [" ".join(part.split()) for part in rule.explanation.strip().split("\n\n")]
    if rule.fix:
        paragraphs.append(f"`mpgraph audit --fix` runs the pass {rule.fix}.")
    return {
        "id": rule.code,
        "name": rule.kind,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": paragraphs[0]},
        "help": {"text": "\n\n".join(paragraphs)},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {
            "tags": [_GROUPS[rule.code.removeprefix("MPG")[0]]],
            "problem.severity": _PROBLEMS[rule.severity],
        },
    }
