"""Quantized models with some nodes kept in float: built, measured and timed."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Mapping

from mpgraph import ir
from mpgraph.limiting.builder import Builder
from mpgraph.limiting.settings import Settings
from mpgraph.limiting.times import NodeGain, part_seconds, ratio_of_times
from mpgraph.quant import QuantizationPlan
from mpgraph.quant.sensitivity import Latency, carriers, in_order
from mpgraph.runtime import DataSet
from mpgraph.runtime.output_errors import OutputErrors
from mpgraph.targets import get_target, quantization_rules

__all__ = ["Trials"]


class Trials:
    """Tries sets of nodes, each once.

    Args:
        model: The model in float.
        plan: What is to be quantized in it.
        data: Feeds for it.
        errors: What the outputs should be.
        builder: Builds quantized models.
        settings: How.
        report: Told what is measured, how much is done, and how much there is.
    """

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
        movers = quantization_rules(get_target(settings.target)).movers
        self.nodes = in_order((*plan.chosen, *carriers(plan, movers)), plan)
        self.everything = frozenset(range(len(self.nodes)))
        self.builds = 0
        self._model = model
        self._plan = plan
        self._data = data
        self._errors = errors
        self._builder = builder
        self._settings = settings
        self._report = report
        self._known: dict[frozenset[int], float] = {}
        self._before: list[float] | None = None
        self._last: tuple[frozenset[int], ir.Model] | None = None

    def plan(
        self, kept: Collection[int], reasons: Mapping[int, str] | None = None
    ) -> QuantizationPlan:
        """The plan with some nodes kept in float."""
        if not kept:
            return self._plan
        places, known = self._plan.places, reasons or {}
        return self._builder.plan(
            {
                places[self.nodes[part].key]: known.get(part, "kept for a trial")
                for part in sorted(kept)
            }
        )

    def error(self, quantized: frozenset[int]) -> float:
        """The error on all data of the model with some nodes quantized.

        Where it is above the limit, what was found until that was known.
        """
        if quantized not in self._known:
            built = self._build(self.everything - quantized)
            self._known[quantized] = self._errors.of(built, enough=self._settings.limit)
        return self._known[quantized]

    def error_of_everything(self) -> float:
        """The error with all nodes quantized; on a few samples where that is above the limit."""
        built = self._build(frozenset())
        error = self._errors.of(built, self._settings.samples)
        if error <= self._settings.limit:
            error = max(error, self.error(self.everything))
        self._known[self.everything] = error
        return error

    def gains(self, kept: frozenset[int]) -> list[NodeGain] | None:
        """What each node gains with some kept; None where times are not wanted or not known."""
        if not self._settings.seconds:
            return None
        if self._before is None:
            self._before = self._seconds(self._model)
        after = self._seconds(self._build(kept))
        if self._before is None or after is None:
            return None
        return [NodeGain(*pair) for pair in zip(self._before, after, strict=True)]

    def latency(self, kept: frozenset[int]) -> Latency | None:
        """The time of the model over that of the one that was given; None where it is not known."""
        if not self._settings.seconds or not self.plan(kept).chosen:
            return None
        self._report("compare times", self.builds, self.builds + 1)
        built = self._build(kept)
        given, settings = self._errors, self._settings
        return ratio_of_times(given.reference, built, given.data, settings.target, settings.seconds)

    def _seconds(self, model: ir.Model) -> list[float] | None:
        self._report("time per node", self.builds, self.builds + 1)
        return part_seconds(model, self._plan, self.nodes, self._data, self._settings.target)

    def _build(self, kept: frozenset[int]) -> ir.Model:
        """The model with some nodes kept; the last one that was built is at hand."""
        if self._last is not None and self._last[0] == kept:
            return self._last[1]
        self.builds += 1
        self._report("build and measure", self.builds, self.builds + 1)
        # The collector is paused over a pipeline, and a graph is one web of cycles.
        self._last = None
        gc.collect()
        built = self._builder.build(self.plan(kept))
        self._last = kept, built
        return built
