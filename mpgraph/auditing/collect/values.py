"""The values of a model: their types, shapes and measured ranges."""

from __future__ import annotations

from collections.abc import Mapping

from mpgraph import ir
from mpgraph.auditing.facts import Range, ValueFact, ValueKind
from mpgraph.auditing.subject import Subject
from mpgraph.runtime import ValueStatistics

__all__ = ["collect_values", "dtype_text"]


def collect_values(
    subject: Subject, measured: Mapping[str, ValueStatistics]
) -> tuple[ValueFact, ...]:
    """Every named value, in graph order.

    Args:
        subject: The model.
        measured: Statistics by value name; empty without data.
    """
    flow = subject.flow
    return tuple(
        ValueFact(
            name=value.name or "",
            graph=scope.path,
            kind=_kind(value),
            type=flow.type(value) or "",
            dtype=dtype_text(flow.dtype(value)),
            shape=_extents(subject, value),
            range=_measured_range(measured.get(value.name or "")),
        )
        for scope, value in subject.values()
    )


def dtype_text(dtype: ir.DataType | None) -> str:
    """The name of a dtype; empty where it is unknown."""
    return "" if dtype is None else ir.dtype_name(dtype)


def _measured_range(seen: ValueStatistics | None) -> Range | None:
    """Statistics as a range; None where nothing was seen."""
    if seen is None or not seen.count:
        return None
    return Range(
        minimum=seen.minimum,
        maximum=seen.maximum,
        smallest=seen.amin_nonzero,
        nonfinite=seen.nonfinite,
        octaves=seen.octaves,
        zeros=seen.finite - seen.nonzero,
    )


def _kind(value: ir.Value) -> ValueKind:
    if value.is_graph_input():
        return "input"
    if value.is_initializer():
        return "initializer"
    return "output" if value.is_graph_output() else "intermediate"


def _extents(subject: Subject, value: ir.Value) -> ir.Dims | None:
    if value.const_value is not None and value.producer() is None:
        return tuple(int(extent) for extent in value.const_value.shape.numpy())
    return subject.flow.shape(value)
