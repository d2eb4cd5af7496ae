"""What the rounding of single activations does to the outputs of a model, measured on data.

All trials run in one session: every activation that a plan quantizes is rounded to its integers
and back, and a switch, which is an input of the model, tells whether its readers see that or what
was computed. A trial costs a run then, not a model that is built and optimised.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from mpgraph import ir
from mpgraph.quant import PlannedActivation, PlannedWeight
from mpgraph.quant.tuning import add_switches
from mpgraph.runtime import DataSet, create_session, run
from mpgraph.runtime.compare import for_session

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["ExactOutputs", "RoundingTrial"]

Array = np.ndarray[Any, Any]

_NO_SWITCHES: Mapping[str, Array] = MappingProxyType({})


class ExactOutputs:
    """The float outputs of a model on some feeds, to hold variants of it against.

    Args:
        model: The model, which is not changed.
        feeds: What to run on; the outputs stay in memory.
        samples: At most so many feeds are used.

    Raises:
        VerificationError: The model does not load or run.
    """

    def __init__(self, model: ir.Model, feeds: DataSet, samples: int) -> None:
        self._feeds = list(islice(feeds, samples))
        session = create_session(model)
        self._expected = [_outputs(session, feed) for feed in self._feeds]

    def error(
        self, session: InferenceSession, switches: Mapping[str, Array] = _NO_SWITCHES
    ) -> float:
        """The squared error of the worst output over its energy, infinite where it is not finite.

        Args:
            session: A variant of the model, with the same outputs in the same order.
            switches: Inputs that it has besides.

        Raises:
            VerificationError: It does not run.
        """
        energy = np.zeros(len(self._expected[0]) if self._expected else 0)
        noise = np.zeros_like(energy)
        for feed, exact in zip(self._feeds, self._expected, strict=True):
            found = _outputs(session, {**feed, **switches})
            energy += [_energy(one) for one in exact]
            noise += [_difference(*pair) for pair in zip(exact, found, strict=True)]
        kept = energy > 0
        worst = float((noise[kept] / energy[kept]).max(initial=0.0))
        return worst if np.isfinite(worst) else float("inf")


class RoundingTrial:
    """A model whose activations, and weights, can be rounded or not.

    Left out are activations that are not float32, or of a body of a function.

    Args:
        model: The model, which is not changed.
        activations: Those that are rounded together, by the number of their switch.
        weights: Likewise.
        exact: Its outputs.

    Raises:
        VerificationError: onnxruntime does not load it.
    """

    def __init__(
        self,
        model: ir.Model,
        activations: Sequence[Collection[PlannedActivation]],
        weights: Sequence[Collection[PlannedWeight]],
        exact: ExactOutputs,
    ) -> None:
        copy = ir.clone(model)
        self._switches = add_switches(copy, activations, weights)
        self._session = create_session(copy)
        self._exact = exact

    def activations_error(self, parts: Collection[int]) -> float:
        """The error of ``ExactOutputs`` when some parts of the activations are rounded."""
        return self._error([self._switches.activations[part] for part in parts])

    def weights_error(self, parts: Collection[int]) -> float:
        """The error of ``ExactOutputs`` when some parts of the weights are rounded."""
        return self._error([self._switches.weights[part] for part in parts])

    def _error(self, chosen: Collection[str]) -> float:
        names = (*self._switches.activations, *self._switches.weights)
        return self._exact.error(self._session, {one: np.array(one in chosen) for one in names})


def _outputs(session: InferenceSession, feed: Mapping[str, Any]) -> list[Array]:
    """The float outputs, as float64."""
    return [
        np.asarray(array, np.float64)
        for array in run(session, for_session(session, feed)).values()
        if isinstance(array, np.ndarray) and np.issubdtype(array.dtype, np.floating)
    ]


def _energy(array: Array) -> float:
    return float(np.square(array).sum())


def _difference(exact: Array, found: Array) -> float:
    return _energy(found - exact) if found.shape == exact.shape else float("inf")
