"""How many elements each value holds, as far as shapes and measurements tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import prod

from mpgraph import ir
from mpgraph.analysis.dtype_flow import TypeFlow

__all__ = ["element_counts"]

_UNKNOWN_BATCH = 1
_UNKNOWN_EXTENT = 64


def element_counts(
    scopes: Iterable[ir.GraphScope],
    flow: TypeFlow,
    measured: Mapping[str, int] | None = None,
) -> dict[ir.Value, int]:
    """Estimate the number of elements of every value of some graphs.

    A measured count wins; then the inferred shape, in which an unknown leading extent counts as 1
    (a batch) and any other unknown extent, negative ones included, as 64; a value without a shape
    counts as much as the largest operand of its node. The result of a Cast counts as much as its
    operand, whatever shape an output of the model declares: a Cast would else be moved to the side
    of which less is known.

    Args:
        scopes: The graphs of a model, an outer one before its inner ones.
        flow: The types and shapes of their values.
        measured: Element counts by value name, from running the model on data.
    """
    known = measured or {}
    counts: dict[ir.Value, int] = {}
    for scope in scopes:
        for value in (*scope.graph.initializers.values(), *scope.graph.inputs):
            counts[value] = _count(value, flow, known, 1)
        for node in scope.graph:
            largest = max([counts.get(value, 1) for value in node.inputs if value], default=1)
            for value in node.outputs:
                if node.op_type == "Cast" and node.domain == "":
                    counts[value] = known.get(value.name or "", largest)
                else:
                    counts[value] = _count(value, flow, known, largest)
    return counts


def _count(value: ir.Value, flow: TypeFlow, measured: Mapping[str, int], otherwise: int) -> int:
    if value.name in measured:
        return measured[value.name or ""]
    shape = flow.shape(value)
    return otherwise if shape is None else _elements(shape)


@lru_cache(maxsize=4096)
def _elements(shape: ir.Dims) -> int:
    return prod(
        extent
        if isinstance(extent, int) and extent >= 0
        else (_UNKNOWN_EXTENT if axis else _UNKNOWN_BATCH)
        for axis, extent in enumerate(shape)
    )
