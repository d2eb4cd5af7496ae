"""The Plan: the one artefact between deciding and rewriting."""

from mpgraph.plan.draft import Choice, Draft, Reason
from mpgraph.plan.labelling import Labelling, lay_over
from mpgraph.plan.plan import Assignment, Plan, PlannedCast, PlannedStorage
from mpgraph.plan.summary import summarize

__all__ = [
    "Assignment",
    "Choice",
    "Draft",
    "Labelling",
    "Plan",
    "PlannedCast",
    "PlannedStorage",
    "Reason",
    "lay_over",
    "summarize",
]
