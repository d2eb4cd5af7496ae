"""What the rounding of single activations does to the outputs of a model, measured on data.

All trials run in one session: every activation that a plan quantizes is rounded to its integers
and back, and a switch, which is an input of the model, tells whether its readers see that or what
was computed. A trial costs a run then, not a model that is built and optimised.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
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
    """A model whose activations can be rounded or not.

    Left out are activations that are not float32, or of a body of a function.

    Args:
        model: The model, which is not changed.
        parts: Activations that are rounded together, by the number of their switch.
        exact: Its outputs.
        weights: How the weights of their readers are rounded with them.

    Raises:
        VerificationError: onnxruntime does not load it.
    """

    def __init__(
        self,
        model: ir.Model,
        parts: Sequence[Collection[PlannedActivation]],
        exact: ExactOutputs,
        weights: Iterable[PlannedWeight] = (),
    ) -> None:
        copy = ir.clone(model)
        self._names = add_switches(copy, parts, weights)
        self._session = create_session(copy)
        self._exact = exact

    def error(self, parts: Iterable[int]) -> float:
        """The error of ``ExactOutputs`` when some parts are rounded."""
        chosen = {self._names[part] for part in parts}
        switches = {name: np.array(name in chosen) for name in self._names}
        return self._exact.error(self._session, switches)


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
