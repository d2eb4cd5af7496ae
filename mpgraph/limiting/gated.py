"""The errors of sets of quantized nodes, from one session of a model with switches."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mpgraph import ir
from mpgraph.limiting.builder import Builder
from mpgraph.limiting.settings import Settings
from mpgraph.quant import PlannedNode, QuantizationPlan
from mpgraph.quant.sensitivity import compute_lazily, gate
from mpgraph.runtime import input_specs
from mpgraph.runtime.faithful import faithful, faithful_session
from mpgraph.runtime.output_errors import OutputErrors, Variant
from mpgraph.runtime.sessions import create_session

__all__ = ["GatedErrors"]

_SETS = 128
"""How many sets are measured as a rule."""


class GatedErrors:
    """Measures sets of parts, each once.

    Args:
        model: The model in float.
        plan: What is to be quantized in it.
        parts: The nodes of each part; what no switch can reach is never quantized here.
        builder: Quantizes the model with switches.
        errors: What the outputs should be.
        settings: The limit, and on how many samples sets are tried; parts are ranked on one.
        report: Told before every new set how many were measured.
    """

    def __init__(
        self,
        model: ir.Model,
        plan: QuantizationPlan,
        parts: Sequence[PlannedNode | None],
        builder: Builder,
        errors: OutputErrors,
        settings: Settings,
        report: Callable[[str, int, int], object],
    ) -> None:
        gated = gate(model, plan, [node for node in parts if node is not None])
        builder.carry_out(gated.model, gated.plan, gated.moved)
        compute_lazily(gated.model, gated.switches)
        runnable = faithful(gated.model)
        plain = runnable is gated.model
        session = create_session(runnable) if plain else faithful_session(runnable)
        inputs = [one for one in input_specs(runnable) if one.name not in gated.switches]
        names = iter(gated.switches)
        self._switches = [None if node is None else next(names) for node in parts]
        self._variant = Variant(session, inputs)
        self._errors = errors
        self._settings = settings
        self._report = report
        self._known: dict[tuple[frozenset[int], int], float] = {}

    def of(self, quantized: frozenset[int]) -> float:
        """The error of the outputs when the given parts are quantized.

        Where it is above the limit, what was found until that was known.
        """
        return self._measured(quantized, self._settings.samples, self._settings.limit)

    def roughly(self, quantized: frozenset[int]) -> float:
        """The same on the first sample, which is enough to rank parts."""
        return self._measured(quantized, 1, math.inf)

    def _measured(self, quantized: frozenset[int], samples: int, enough: float) -> float:
        if (quantized, samples) not in self._known:
            sets = len(self._known) + 1
            self._report("measure sets of nodes", sets, max(_SETS, sets + 1))
            switches: dict[str, Any] = {
                name: np.array(part in quantized)
                for part, name in enumerate(self._switches)
                if name is not None
            }
            found = self._errors.compare([self._variant], samples, switches, enough=enough)
            self._known[quantized, samples] = found
        return self._known[quantized, samples]
