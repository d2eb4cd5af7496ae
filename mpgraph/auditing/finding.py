"""What an audit finds: one thing that is wrong, dangerous or wasted, with evidence and advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Finding", "Severity"]

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of one rule.

    Attributes:
        code: The stable code of the rule, such as ``MPG101``.
        kind: The rule's slug, such as ``constant-overflow``.
        finding: The finding in words, such as ``constant outside fp16 range``.
        severity: ``error`` where the model is wrong, ``warning`` where numbers are in danger,
            ``note`` where something is wasted, or in danger only once it is converted.
        value: The name of the ONNX value that it is about; empty where it is about none.
        node: A description of the node that it is about; empty for constants and graph inputs.
        key: The key of that node, as in ``NodeFact.key``; empty without a node.
        scope: The module path of that node.
        evidence: The number or pattern found.
        suggestion: What to do about it, in one sentence.
        measured: Whether data showed it, or the graph alone.
        fixable: Whether ``--fix`` can repair it.
    """

    code: str
    kind: str
    finding: str
    severity: Severity
    value: str
    node: str
    key: str
    scope: str
    evidence: str
    suggestion: str
    measured: bool = False
    fixable: bool = False
