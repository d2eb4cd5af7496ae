"""How far variants of a model are off, all held against the outputs of one reference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from mpgraph import ir
from mpgraph.errors import MissingDependencyError, TargetError
from mpgraph.runtime.compare import for_session
from mpgraph.runtime.data import DataSet, InputSpec, input_specs
from mpgraph.runtime.differences import Tally
from mpgraph.runtime.faithful import faithful, faithful_session
from mpgraph.runtime.inputs import as_inputs
from mpgraph.runtime.sessions import create_session, run

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["OutputErrors", "Variant"]

_CACHE_BYTES = 256 * 10**6


class OutputErrors:
    """Measures the largest error of an output, over its range in the sample (``max_relative``).

    Args:
        reference: The model that tells what is right. What it gives on the first samples is kept,
            up to 256 MB; on later ones it runs again.
        data: Feeds for it.
        target: Where variants run, besides a session without graph optimisations on the CPU.
    """

    def __init__(self, reference: ir.Model, data: DataSet, target: str = "cpu") -> None:
        self.reference = reference
        self.data = data
        self._session = faithful_session(faithful(reference))
        self._target = target
        self._known: list[dict[str, Any]] = []
        self._room = _CACHE_BYTES
        self.runs = 0
        self.samples = 0

    def of(
        self, variant: ir.Model, samples: int | None = None, *, enough: float = math.inf
    ) -> float:
        """The error of a model, as ``mpgraph verify`` measures it and as the target runs it.

        Args:
            variant: A model with the inputs and outputs of the reference.
            samples: On how many samples; None for all.
            enough: As for ``compare``.

        Raises:
            VerificationError: The model does not load or run.
        """
        runnable = faithful(variant)
        inputs = input_specs(variant)
        # The target's fused kernels take a fraction of the time of the graph as it is.
        opened = self._on_target(variant, inputs) if runnable is variant else []
        opened.append(Variant(faithful_session(runnable), inputs))
        return self.compare(opened, samples, enough=enough)

    def compare(
        self,
        variants: Sequence[Variant],
        samples: int | None = None,
        more: Mapping[str, Any] | None = None,
        *,
        enough: float = math.inf,
    ) -> float:
        """The largest error of several sessions.

        Args:
            variants: The sessions, opened.
            samples: On how many samples; None for all.
            more: Values for inputs that the reference has not.
            enough: Above this the first error that is found is given, and no more is run.
        """
        worst = 0.0
        count = 0
        for feed, expected in islice(self._pairs(), samples):
            count += 1
            for variant in variants:
                given = variant.run(feed, more or {})
                self.runs += 1
                worst = max(worst, _error(expected, given))
                if worst > enough:
                    return worst
        self.samples = max(self.samples, count)
        return worst

    def _on_target(self, variant: ir.Model, inputs: Sequence[InputSpec]) -> list[Variant]:
        try:
            return [Variant(create_session(variant, target=self._target), inputs)]
        except (MissingDependencyError, TargetError):
            return []

    def _pairs(self) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        for index, feed in enumerate(self.data):
            if index < len(self._known):
                yield feed, self._known[index]
                continue
            expected = run(self._session, for_session(self._session, feed))
            size = sum(getattr(value, "nbytes", 0) for value in expected.values())
            if index == len(self._known) and size <= self._room:
                self._known.append(expected)
                self._room -= size
            else:
                self._room = 0
            yield feed, expected


class Variant:
    """A session with the inputs that it takes.

    Args:
        session: The session.
        inputs: The inputs of its model that the data is for.
    """

    def __init__(self, session: InferenceSession, inputs: Sequence[InputSpec]) -> None:
        self._session = session
        self._inputs = inputs

    def run(self, feed: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs on a feed of the reference and values for the other inputs."""
        given = as_inputs(feed, self._inputs)
        return run(self._session, for_session(self._session, {**given, **more}))


def _error(expected: Mapping[str, Any], given: Mapping[str, Any]) -> float:
    worst = 0.0
    for name, value in expected.items():
        tally = Tally(name)
        tally.add(value, given[name])
        worst = max(worst, tally.result().max_relative)
    return worst
