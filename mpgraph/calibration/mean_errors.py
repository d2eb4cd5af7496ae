"""How far quantized results are off on average, channel by channel, measured on data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from mpgraph import ir
from mpgraph.quant.rewriting import Writer
from mpgraph.runtime import DataSet, create_session, run
from mpgraph.runtime.compare import for_session

__all__ = ["TwoForms", "mean_errors"]

Array = np.ndarray[Any, Any]

_PASS = "mean-errors"

_AXES_ARE_AN_OPERAND = 18
"""The opset from which ReduceMean takes its axes as an operand."""


@dataclass(frozen=True)
class TwoForms:
    """A result that a model computes twice, from the same values.

    Attributes:
        key: What it is called here.
        exact: The result in float32, in the main graph.
        quantized: The same from quantized operands.
        rank: How many axes it has.
        axis: The one that runs along the channels.
    """

    key: str
    exact: ir.Value
    quantized: ir.Value
    rank: int
    axis: int


def mean_errors(
    model: ir.Model,
    forms: Iterable[TwoForms],
    feeds: DataSet,
    samples: int,
    more: Mapping[str, Array],
) -> dict[str, Array]:
    """The mean of quantized minus exact over each channel; every sample counts the same.

    What is not finite, or empty, on a sample is left out.

    Args:
        model: A model that computes both forms; it is changed: the means become outputs.
        forms: The results.
        feeds: What to run on.
        samples: Run at most so many.
        more: Values for inputs that the feeds lack.

    Returns:
        float64[channels] by key.

    Raises:
        VerificationError: The model does not load or run.
    """
    writer = Writer(model, _PASS)
    keys = {_add_mean(model, writer, one): one.key for one in forms}
    session = create_session(model)
    totals: dict[str, Array] = {}
    count = 0
    for feed in islice(feeds, samples):
        found = run(session, {**for_session(session, feed), **more}, list(keys))
        count += 1
        for name, mean in found.items():
            totals[keys[name]] = totals.get(keys[name], 0.0) + mean.astype(np.float64)
    return {key: total / count for key, total in totals.items() if np.isfinite(total).all()}


def _add_mean(model: ir.Model, writer: Writer, forms: TwoForms) -> str:
    """Add an output that is the mean error; returns its name."""
    axes = [axis for axis in range(forms.rank) if axis != forms.axis % forms.rank]
    difference = _append(model.graph, writer, "Sub", [forms.quantized, forms.exact])
    attributes = [ir.AttrInt64("keepdims", 0)]
    operands = [difference]
    if model.opset_imports[""] >= _AXES_ARE_AN_OPERAND:
        axes_tensor = ir.tensor(np.array(axes, np.int64))
        operands.append(writer.constant(model.graph, "axes", axes_tensor))
    else:
        attributes.append(ir.AttrInt64s("axes", axes))
    mean = _append(model.graph, writer, "ReduceMean", operands, attributes)
    mean.type = ir.TensorType(ir.DataType.FLOAT)
    model.graph.outputs.append(mean)
    return mean.name or ""


def _append(
    graph: ir.Graph,
    writer: Writer,
    op_type: str,
    operands: Sequence[ir.Value],
    attributes: Sequence[ir.Attr] = (),
) -> ir.Value:
    result = ir.Value(name=writer.free_name("mean_error"))
    graph.append(ir.Node("", op_type, operands, attributes, outputs=[result]))
    return result
