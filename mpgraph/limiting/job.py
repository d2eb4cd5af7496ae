"""One search: measure, choose, verify, time."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Collection, Sequence

from mpgraph import ir
from mpgraph.limiting.builder import Builder
from mpgraph.limiting.gated import GatedErrors
from mpgraph.limiting.settings import Settings
from mpgraph.limiting.texts import change_text, harm_text
from mpgraph.limiting.times import NodeGain, node_gains, ratio_of_times
from mpgraph.quant import PlannedNode, QuantizationPlan
from mpgraph.quant.sensitivity import (
    KeptNode,
    Latency,
    Part,
    Sensitivity,
    carriers,
    coarse_gains,
    gateable,
    in_order,
    measure_alone,
    search_kept,
)
from mpgraph.runtime import DataSet
from mpgraph.runtime.output_errors import OutputErrors
from mpgraph.targets import get_target, quantization_rules

__all__ = ["find_kept"]

_SLOW_SHARES = (0.0, 0.1, 0.3)
"""A node is kept where it gains no more than this share of its time in float; tried in turn."""


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
    return _Search(model, plan, data, errors, builder, settings, report).run()


class _Search:
    def __init__(
        self,
        model: ir.Model,
        plan: QuantizationPlan,
        data: DataSet,
        errors: OutputErrors,
        builder: Builder,
        settings: Settings,
        report: Callable[[str, int, int], object],
    ) -> None:
        self._model = model
        self._plan = plan
        self._data = data
        self._errors = errors
        self._builder = builder
        self._settings = settings
        self._report = report
        movers = quantization_rules(get_target(settings.target)).movers
        self._chosen = in_order((*plan.chosen, *carriers(plan, movers)), plan)
        self._everything = frozenset(range(len(self._chosen)))
        self._known: dict[frozenset[int], float] = {}
        self._reasons: dict[int, str] = {}
        self._gains: list[NodeGain] | None = None
        self._alone: list[float] | None = None
        self._builds = self._sets = 0
        self._last: tuple[frozenset[int], ir.Model] | None = None

    def run(self) -> tuple[Sensitivity, QuantizationPlan]:
        """Search; returns what was found, and the plan with it."""
        started = time.perf_counter()
        before = self._error(self._everything)
        kept = frozenset[int]()
        if before > self._settings.limit:
            kept = self._within_limit()
        kept, latency = self._without_loss(kept)
        error = self._error(self._everything - kept)
        plan = self._plan_with(kept)
        found = Sensitivity(
            limit=self._settings.limit,
            everything=before,
            error=error,
            kept=tuple(self._kept_node(part) for part in self._by_error(kept)),
            quantizable=len(self._plan.chosen),
            quantized=len(plan.chosen),
            latency=latency,
            builds=self._builds,
            runs=self._errors.runs,
            seconds=time.perf_counter() - started,
            samples=self._errors.samples,
        )
        return found, plan

    def _within_limit(self) -> frozenset[int]:
        """The nodes to keep for the sake of the error."""
        reachable = {node.key for node in gateable(self._chosen, self._model)}
        gated = GatedErrors(
            self._model,
            self._plan,
            [node if node.key in reachable else None for node in self._chosen],
            self._builder,
            self._errors,
            self._settings.samples,
            self._note_set,
        )
        count, limit = len(self._chosen), self._settings.limit
        self._alone = self._measure_alone(gated)
        self._measure_gains()
        gains = coarse_gains([one.gain for one in self._gains or ()]) or [1.0] * count
        parts = [Part(*pair) for pair in zip(self._alone, gains, strict=True)]
        kept = search_kept(gated.of, self._error, parts, limit)
        for part in kept:
            self._reasons[part] = harm_text(self._alone[part], limit)
        return kept

    def _measure_alone(self, gated: GatedErrors) -> list[float]:
        """The error of each node alone: first of those that multiply, then of those in between."""
        parts = range(len(self._chosen))
        kinds = [
            [part for part in parts if self._chosen[part].counts == multiplies]
            for multiplies in (True, False)
        ]
        alone = measure_alone(gated.roughly, kinds, self._settings.limit)
        return [alone[part] for part in parts]

    def _without_loss(self, kept: frozenset[int]) -> tuple[frozenset[int], Latency | None]:
        """Keep also what gains least, until the model loses no time; at last, keep everything."""
        latency = self._latency(kept)
        if latency is None or not latency.is_slower or self._settings.may_lose_time:
            return kept, latency
        self._measure_gains()
        gains = self._gains or ()
        for share in _SLOW_SHARES:
            more = _gaining_less(gains, share) - kept
            if not more or kept | more == self._everything:
                continue
            for part in more:
                self._reasons[part] = f"it gains no time quantized ({change_text(gains[part])})"
            if self._error(self._everything - kept - more) > self._settings.limit:
                continue
            kept |= more
            latency = self._latency(kept)
            if latency is None or not latency.is_slower:
                return kept, latency
        for part in self._everything - kept:
            self._reasons[part] = "the model as a whole loses time quantized"
        return self._everything, latency

    def _latency(self, kept: frozenset[int]) -> Latency | None:
        if not self._settings.seconds or not self._plan_with(kept).chosen:
            return None
        self._report("compare times", self._builds, self._builds + 1)
        built = self._build(kept)
        settings = self._settings
        return ratio_of_times(self._model, built, self._data, settings.target, settings.seconds)

    def _measure_gains(self) -> None:
        """Times per node, where they are wanted and not known yet."""
        if self._gains is not None or not self._settings.seconds:
            return
        self._report("time per node", self._builds, self._builds + 1)
        built = self._build(frozenset())
        self._gains = node_gains(
            self._model, built, self._plan, self._chosen, self._data, self._settings.target
        )

    def _error(self, quantized: frozenset[int]) -> float:
        """The error of a model that is built; on all data where a few samples allow it."""
        if quantized not in self._known:
            built = self._build(self._everything - quantized)
            error = self._errors.of(built, self._settings.samples)
            if error <= self._settings.limit:
                error = self._errors.of(built)
            self._known[quantized] = error
        return self._known[quantized]

    def _build(self, kept: frozenset[int]) -> ir.Model:
        """The model with some nodes kept; the last one that was built is at hand."""
        if self._last is not None and self._last[0] == kept:
            return self._last[1]
        self._builds += 1
        self._report("build and measure", self._builds, self._builds + 1)
        # The collector is paused over a pipeline, and a graph is one web of cycles.
        self._last = None
        gc.collect()
        built = self._builder.build(self._plan_with(kept))
        self._last = kept, built
        return built

    def _plan_with(self, kept: Collection[int]) -> QuantizationPlan:
        if not kept:
            return self._plan
        places = self._plan.places
        return self._builder.plan(
            {
                places[self._chosen[part].key]: self._reasons.get(part, "kept for a trial")
                for part in sorted(kept)
            }
        )

    def _note_set(self) -> None:
        self._sets += 1
        total = max(2 * len(self._chosen), self._sets + 1)
        self._report("measure sets of nodes", self._sets, total)

    def _by_error(self, kept: Collection[int]) -> Sequence[int]:
        alone = self._alone or [0.0] * len(self._chosen)
        return sorted(kept, key=lambda part: (-alone[part], part))

    def _kept_node(self, part: int) -> KeptNode:
        node: PlannedNode = self._chosen[part]
        return KeptNode(
            node.key,
            node.name,
            node.op_type,
            node.scope,
            None if self._alone is None else self._alone[part],
            None if self._gains is None else self._gains[part].gain,
            self._reasons[part],
        )


def _gaining_less(gains: Sequence[NodeGain], share: float) -> frozenset[int]:
    """The nodes that gain no more than a share of their time in float."""
    return frozenset(part for part, node in enumerate(gains) if node.gain <= share * node.before)
