"""One search: measure, choose, verify, time."""

from __future__ import annotations

import time
from collections.abc import Callable

from mpgraph import ir
from mpgraph.limiting.builder import Builder
from mpgraph.limiting.gated import GatedErrors
from mpgraph.limiting.settings import Settings
from mpgraph.limiting.trials import Trials
from mpgraph.limiting.within import Evidence, within_limit
from mpgraph.limiting.without_loss import fastest, without_loss
from mpgraph.quant import PlannedNode, QuantizationPlan
from mpgraph.quant.sensitivity import KeptNode, Sensitivity, gateable
from mpgraph.runtime import DataSet
from mpgraph.runtime.output_errors import OutputErrors

__all__ = ["find_kept"]


def find_kept(
    model: ir.Model,
    plan: QuantizationPlan,
    data: DataSet,
    errors: OutputErrors,
    builder: Builder,
    settings: Settings,
    report: Callable[[str, int, int], object],
) -> tuple[Sensitivity, QuantizationPlan]:
    """Find the nodes to keep in float.

    Args:
        model: The model in float.
        plan: What is to be quantized in it.
        data: Feeds for it.
        errors: What the outputs should be.
        builder: Builds quantized models.
        settings: How.
        report: Told what is measured, how much is done, and how much there is.

    Returns:
        What was found, and the plan with the nodes kept.
    """
    started = time.perf_counter()
    trials = Trials(model, plan, data, errors, builder, settings, report)
    before = trials.error_of_everything()
    choices, evidence = [frozenset[int]()], Evidence()
    if before > settings.limit:
        gated = GatedErrors(
            model, plan, _switched(trials, model), builder, errors, settings, report
        )
        choices, evidence = within_limit(trials, gated, settings)
    kept, latency = fastest(trials, choices)
    if latency is not None and not settings.may_lose_time:
        kept, latency = without_loss(trials, settings, kept, latency, evidence)
    chosen = trials.plan(kept, evidence.reasons)
    order = sorted(kept, key=lambda part: (-evidence.errors.get(part, 0.0), part))
    found = Sensitivity(
        limit=settings.limit,
        everything=before,
        error=trials.error(trials.everything - kept),
        kept=tuple(_kept_node(part, trials, evidence) for part in order),
        quantizable=len(plan.chosen),
        quantized=len(chosen.chosen),
        latency=latency,
        builds=trials.builds,
        runs=errors.runs,
        seconds=time.perf_counter() - started,
        samples=errors.samples,
    )
    return found, chosen


def _switched(trials: Trials, model: ir.Model) -> list[PlannedNode | None]:
    """The nodes that get a switch; None for those that none can reach."""
    reachable = {node.key for node in gateable(trials.nodes, model)}
    return [node if node.key in reachable else None for node in trials.nodes]


def _kept_node(part: int, trials: Trials, evidence: Evidence) -> KeptNode:
    node = trials.nodes[part]
    return KeptNode(
        node.key,
        node.name,
        node.op_type,
        node.scope,
        evidence.errors.get(part),
        evidence.together.get(part, 1),
        None if evidence.gains is None else evidence.gains[part].gain,
        evidence.reasons[part],
    )
