"""Comparison of two models on the same data, per output and per layer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mpgraph import ir
from mpgraph.runtime.data import DataSet, InputSpec, input_specs, load_data
from mpgraph.runtime.differences import Difference, Tally
from mpgraph.runtime.exposure import float_tensors, value_batches, with_outputs
from mpgraph.runtime.faithful import faithful, faithful_session
from mpgraph.runtime.inputs import as_inputs, check_inputs
from mpgraph.runtime.origin import float_values, with_origin
from mpgraph.runtime.sessions import create_session, run
from mpgraph.targets import get_target

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["Comparison", "compare_models"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two models side by side.

    Attributes:
        outputs: One difference per output, in the order of the first model.
        layers: One difference per value that both models compute as a float tensor, in the order
            of the first model; empty unless asked for.
        label: Where the data came from.
        not_compared: The float tensors of the first model's main graph that the second has not;
            empty unless layers were asked for. Values inside If, Loop and Scan are never compared.
    """

    outputs: tuple[Difference, ...]
    layers: tuple[Difference, ...]
    label: str
    not_compared: tuple[str, ...] = ()

    @property
    def max_relative(self) -> float:
        """Worst error over the range of a, of all outputs; inf where one is incomparable."""
        return max((output.max_relative for output in self.outputs), default=0.0)

    @property
    def mismatches(self) -> int:
        """Elements that differ where they must be equal (see ``Difference``), over all outputs."""
        return sum(output.mismatches for output in self.outputs)

    @property
    def errors(self) -> tuple[str, ...]:
        """Outputs that cannot be compared, each with the reason."""
        return tuple(f"{out.name}: {out.error}" for out in self.outputs if out.error)

    @property
    def worst(self) -> Difference | None:
        """The output with the largest ``max_relative``; None for models without outputs."""
        return max(self.outputs, key=lambda output: output.max_relative, default=None)

    def first_divergence(self, limit: float) -> Difference | None:
        """The first layer that is beyond ``limit`` (see ``Difference.is_beyond``), if any.

        Layers are in graph order: what was compared among its operands is within the limit.
        """
        return next((layer for layer in self.layers if layer.is_beyond(limit)), None)


def compare_models(
    a: ir.Model | str | os.PathLike[str],
    b: ir.Model | str | os.PathLike[str],
    data: object,
    *,
    per_layer: bool = False,
    emulate: bool = False,
    target: str = "cpu",
    optimize: bool = False,
    budget_bytes: int = 256 * 2**20,
) -> Comparison:
    """Run two models on the same data and measure how far their results are apart.

    Args:
        a: The reference, for example the model before conversion.
        b: The other one. Its inputs have the names of ``a``'s; where an input has another
            floating dtype, the data of ``a`` is rounded to it.
        data: Anything that ``load_data`` takes, for the inputs of ``a``.
        per_layer: Also compare the values inside, matched by name.
        emulate: Compute float16, bfloat16 and float8 values of either model as a provider with
            kernels for them would (see ``emulated``); needed for a meaningful number on the CPU.
        target: Where both run; with ``emulate`` they run on the CPU, with the arithmetic of the
            target (``Target.arithmetic``).
        optimize: Run with graph optimisations. Without, the two differ only by what the models
            say, not by which operators happened to fuse.
        budget_bytes: Upper bound of the layer values held at a time, for each model.

    Raises:
        DataError: The data does not fit ``a``, or the inputs of ``b`` are other ones.
        VerificationError: A model does not load or run.
    """
    first, second = ir.load(a), ir.load(b)
    inputs, inputs_b = input_specs(first), input_specs(second)
    check_inputs(inputs, inputs_b)
    feeds = load_data(data, inputs)
    made = (float_values(first), float_values(second)) if per_layer else ({}, {})
    opened: Callable[[ir.Model], InferenceSession]
    if emulate:
        arithmetic = get_target(target).arithmetic
        first, second = faithful(first, arithmetic), faithful(second, arithmetic)
        opened = faithful_session
    else:

        def opened(model: ir.Model) -> InferenceSession:
            return create_session(model, target=target, optimize=optimize)

    names = [output.name or "" for output in first.graph.outputs]
    names_b = {output.name for output in second.graph.outputs}
    shared = [name for name in names if name in names_b]
    pair = (opened(first), opened(second))
    found = _compare(pair, feeds, shared, inputs_b)
    absent = "is no output of the second model"
    outputs = tuple(found.get(name) or Tally(name, error=absent).result() for name in names)
    layers: list[Difference] = []
    if per_layer:
        del pair
        own = [name for name in made[0] if name in made[1]]
        for exposed_a, exposed_b, values in _layers(first, second, own, feeds, budget_bytes):
            pair = (opened(exposed_a), opened(exposed_b))
            layers.extend(_compare(pair, feeds, values, inputs_b).values())
    described = tuple(with_origin(layer, *made) for layer in layers)
    not_compared = tuple(name for name in made[0] if name not in made[1])
    return Comparison(outputs, described, feeds.label, not_compared)


def _layers(
    a: ir.Model, b: ir.Model, names: Sequence[str], feeds: DataSet, budget_bytes: int
) -> Iterator[tuple[ir.Model, ir.Model, Sequence[str]]]:
    in_a, in_b = float_tensors(a), float_tensors(b)
    shared = [name for name in names if name in in_a and name in in_b]
    for values in value_batches(a, shared, feeds, budget_bytes):
        with with_outputs(a, values), with_outputs(b, values):
            yield a, b, values


def _compare(
    sessions: tuple[InferenceSession, InferenceSession],
    feeds: DataSet,
    names: Sequence[str],
    inputs_b: Sequence[InputSpec],
) -> dict[str, Difference]:
    tallies = {name: Tally(name) for name in names}
    for feed in feeds:
        got_a = run(sessions[0], for_session(sessions[0], feed), names)
        feed_b = for_session(sessions[1], as_inputs(feed, inputs_b))
        got_b = run(sessions[1], feed_b, names)
        for name, tally in tallies.items():
            tally.add(got_a.pop(name), got_b.pop(name))
    return {name: tally.result() for name, tally in tallies.items()}


def for_session(session: InferenceSession, feed: Mapping[str, Any]) -> dict[str, Any]:
    """The feed with sequences widened to float32 where an emulated model takes them so."""
    kinds = {value.name: value.type for value in session.get_inputs()}
    return {
        name: [item.astype(np.float32) for item in value]
        if isinstance(value, list) and "(float)" in kinds[name]
        else value
        for name, value in feed.items()
    }
