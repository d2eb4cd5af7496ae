"""What a rule of the audit is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mpgraph import ir
from mpgraph.auditing.context import Context
from mpgraph.auditing.finding import Finding, Severity

__all__ = ["Found", "Rule"]


@dataclass(frozen=True, slots=True)
class Found:
    """One place where a rule is broken.

    Attributes:
        finding: The finding in words, such as ``constant outside fp16 range``.
        evidence: The number or pattern found.
        suggestion: What to do about it, in one sentence.
        value: The value that it is about; None where it is about none.
        node: The node that it is about; that which writes the value by default.
        measured: Whether data showed it, or the graph alone.
        severity: Another severity than that of the rule; empty for that of the rule.
        fixable: Whether the fix of the rule, if it has one, repairs this one.
    """

    finding: str
    evidence: str
    suggestion: str
    value: ir.Value | None = None
    node: ir.Node | None = None
    measured: bool = False
    severity: Severity | None = None
    fixable: bool = True


@dataclass(frozen=True)
class Rule:
    """One rule of the audit.

    Attributes:
        code: Its stable code, such as ``MPG101``; the first digit is its group.
        kind: Its slug, such as ``constant-overflow``.
        title: What it is about, in a few words.
        severity: How bad a finding is, unless the finding itself says otherwise.
        explanation: What it finds, why that matters, an example, and what to do.
        search: Finds the places where it is broken.
        fix: The pipeline that repairs what it finds without a change of meaning; empty for none.
    """

    code: str
    kind: str
    title: str
    severity: Severity
    explanation: str
    search: Callable[[Context], Iterator[Found]]
    fix: str = ""

    def find(self, context: Context) -> Iterator[Finding]:
        """Every finding of the rule in a model."""
        for found in self.search(context):
            node = found.node
            if node is None and found.value is not None:
                node = found.value.producer()
            subject = context.subject
            yield Finding(
                code=self.code,
                kind=self.kind,
                finding=found.finding,
                severity=found.severity or self.severity,
                value="" if found.value is None else found.value.name or "",
                node="" if node is None else subject.describe(node),
                key="" if node is None else subject.keys[node],
                scope="" if node is None else subject.module_paths[node],
                evidence=found.evidence,
                suggestion=found.suggestion,
                measured=found.measured,
                fixable=bool(self.fix) and found.fixable,
            )
