"""Repairs of what the audit found, where a rewrite is safe: each a pass, named by its rule."""

from __future__ import annotations

from collections.abc import Iterable

from mpgraph import ir
from mpgraph.auditing.finding import Finding
from mpgraph.auditing.rules import RULES
from mpgraph.passmgr import Facts, VerifyEach, load_pipeline, run_pipeline

__all__ = ["fix_model", "fix_passes"]


def fix_passes(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The passes that repair what can be repaired, each once, in the order of their rules."""
    codes = {finding.code for finding in findings if finding.fixable}
    fixes = (RULES[code].fix for code in sorted(codes))
    return tuple(dict.fromkeys(fixes))


def fix_model(model: ir.Model, findings: Iterable[Finding]) -> bool:
    """Repair a model in place, and verify it after each pass; whether anything was changed.

    Raises:
        PassFailedError: A pass left an invalid model.
    """
    text = ",".join(fix_passes(findings))
    if not text:
        return False
    return run_pipeline(model, load_pipeline(text), Facts(), (VerifyEach(),))
