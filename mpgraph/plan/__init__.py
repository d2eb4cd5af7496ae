"""The Plan: the one artefact between deciding and rewriting."""

from mpgraph.plan.draft import Choice, Draft, Reason
from mpgraph.plan.factors import node_places, planned_factors
from mpgraph.plan.labelling import Labelling, lay_over
from mpgraph.plan.plan import Assignment, Plan, PlannedCast, PlannedStorage
from mpgraph.plan.planned_factor import PlannedFactor
from mpgraph.plan.policy_map import policy_map_of_plan
from mpgraph.plan.summary import summarize

__all__ = [
    "Assignment",
    "Choice",
    "Draft",
    "Labelling",
    "Plan",
    "PlannedCast",
    "PlannedFactor",
    "PlannedStorage",
    "Reason",
    "lay_over",
    "node_places",
    "planned_factors",
    "policy_map_of_plan",
    "summarize",
]
