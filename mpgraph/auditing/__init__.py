"""Audit of a model's dtype flow: facts about every node and value, and findings from rules."""

from mpgraph.auditing.facts import (
    CastFact,
    LayerFact,
    NodeFact,
    QuantizationFact,
    Totals,
    ValueFact,
    WeightFact,
)
from mpgraph.auditing.finding import Finding
from mpgraph.auditing.report import AuditReport, NotAudited

__all__ = [
    "AuditReport",
    "CastFact",
    "Finding",
    "LayerFact",
    "NodeFact",
    "NotAudited",
    "QuantizationFact",
    "Totals",
    "ValueFact",
    "WeightFact",
]
