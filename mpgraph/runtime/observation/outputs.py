"""A model that returns chosen values, whole or reduced, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mpgraph import ir
from mpgraph.runtime.observation.reductions import Reductions

__all__ = ["ReducedOutputs", "add_reductions", "return_only"]


@dataclass(frozen=True, slots=True)
class ReducedOutputs:
    """Names of the outputs that hold reductions.

    Attributes:
        names: The reduced values, in the order of the rows.
        summaries: float32[3 * n]: minimum, maximum and sum of each.
        counts: int64[n]: their sizes.
        parts: Output with the kept elements, by value; empty where none are kept.
    """

    names: tuple[str, ...] = ()
    summaries: str = ""
    counts: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)


def return_only(model: ir.Model, dtypes: Mapping[str, ir.DataType]) -> None:
    """Make the named values of the main graph the outputs of the model, in place."""
    model.graph.outputs.clear()
    for value in _computed(model.graph):
        dtype = dtypes.get(value.name or "")
        if dtype is not None:
            if value.type is None:
                value.type = ir.TensorType(dtype)
            model.graph.outputs.append(value)


def add_reductions(
    model: ir.Model,
    dtypes: Mapping[str, ir.DataType],
    *,
    part: int,
    keep: Mapping[str, ir.DataType] | None = None,
) -> ReducedOutputs:
    """Make reductions of values of the main graph outputs of the model, in place.

    Args:
        model: The model.
        dtypes: The values to reduce, with their dtypes.
        part: At most so many elements of each are kept.
        keep: Values that become outputs as they are, with their dtypes.
    """
    values = {value.name: value for value in _computed(model.graph) if value.name in dtypes}
    return_only(model, keep or {})
    if not dtypes:
        return ReducedOutputs()
    reductions = Reductions(model.graph, ir.Namer(model), part)
    parts = {name: reductions.add(values[name], dtype) for name, dtype in dtypes.items()}
    summaries, counts = reductions.join()
    given = {name: value for name, value in parts.items() if value is not None}
    model.graph.outputs.extend((summaries, counts, *given.values()))
    return ReducedOutputs(
        tuple(dtypes),
        summaries.name or "",
        counts.name or "",
        {name: value.name or "" for name, value in given.items()},
    )


def _computed(graph: ir.Graph) -> list[ir.Value]:
    return [output for node in graph for output in node.outputs]
