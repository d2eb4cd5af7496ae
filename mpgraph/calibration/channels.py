"""Runs a model on data and keeps what the channels of its values hold."""

from __future__ import annotations

from collections.abc import Iterable

from mpgraph import ir
from mpgraph.calibration.capture import observed_values
from mpgraph.calibration.job import value_sizes
from mpgraph.calibration.memory import parse_memory
from mpgraph.quant.equalization.statistics import Channels, ChannelStatistics
from mpgraph.runtime import DataSet
from mpgraph.runtime.observation import prepare

__all__ = ["observe_channels"]


def observe_channels(
    model: ir.Model,
    feeds: DataSet,
    values: Iterable[str],
    *,
    samples: int = 16,
    memory: str | int = "512MB",
) -> ChannelStatistics:
    """Sum up the channels, which run along axis 1, of some values of the main graph.

    Values that are not finite somewhere, or change their number of channels, are left out.

    Args:
        model: The model; it is not changed.
        feeds: What to run on.
        values: Names of float values.
        samples: Run at most so many samples.
        memory: Bound of the arrays that leave the model in one run; several passes are made where
            they do not fit together.

    Raises:
        DataError: A value is larger than ``memory`` by itself.
        VerificationError: The model does not load or run.
    """
    prepared = prepare(model, list(dict.fromkeys(values)))
    _, sizes = value_sizes(prepared, feeds)
    found: dict[str, Channels | None] = {}
    for name, array in observed_values(prepared, feeds, sizes, parse_memory(memory), samples):
        one = Channels.of(array)
        known = found.get(name, one)
        fits = one is not None and known is not None and known.low.shape == one.low.shape
        if one is None or known is None or not fits:
            found[name] = None
        else:
            found[name] = known.merge(one) if name in found else one
    return ChannelStatistics({name: one for name, one in found.items() if one is not None})
