"""How far rounding moves the outputs of a model, measured again and again against one reference."""

from __future__ import annotations

from itertools import islice
from typing import Any

from mpgraph import ir
from mpgraph.runtime.compare import for_session
from mpgraph.runtime.data import DataSet, input_specs
from mpgraph.runtime.differences import Tally
from mpgraph.runtime.emulate import emulated
from mpgraph.runtime.faithful import faithful, faithful_session
from mpgraph.runtime.inputs import as_inputs
from mpgraph.runtime.sessions import run
from mpgraph.runtime.survival import emulated_session

__all__ = ["RoundingError"]


class RoundingError:
    """The outputs of a model on some feeds, to hold variants of the model against.

    Args:
        model: The original; its outputs on the feeds stay in memory.
        data: The feeds.
        samples: At most so many of them are used.
    """

    def __init__(self, model: ir.Model, data: DataSet, samples: int) -> None:
        session = faithful_session(faithful(model))
        self._feeds: list[dict[str, Any]] = list(islice(data, samples))
        self._expected = [run(session, for_session(session, feed)) for feed in self._feeds]

    def of(self, variant: ir.Model) -> float:
        """The largest error of ``variant`` under rounding emulation, over the range of an output.

        Infinite where it gives NaN or infinity and the original does not.
        """
        inputs = input_specs(variant)
        session = emulated_session(emulated(variant))
        worst = 0.0
        for feed, expected in zip(self._feeds, self._expected, strict=True):
            given = run(session, for_session(session, as_inputs(feed, inputs)))
            for name, value in expected.items():
                tally = Tally(name)
                tally.add(value, given[name])
                worst = max(worst, tally.result().max_relative)
        return worst
