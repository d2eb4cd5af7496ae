"""What a labelling means for the graph: the casts it needs and how constants are stored."""

from __future__ import annotations

from mpgraph import ir
from mpgraph.plan.labelling import Labelling
from mpgraph.plan.plan import PlannedCast, PlannedStorage

__all__ = ["summarize"]


def summarize(labelling: Labelling) -> tuple[tuple[PlannedCast, ...], tuple[PlannedStorage, ...]]:
    """List the casts between cells, and the storage of every float constant, in graph order."""
    wanted: dict[ir.Value, dict[ir.DataType, int]] = {}
    used: dict[ir.Value, set[ir.DataType]] = {}
    stored: dict[ir.Value, set[ir.DataType]] = {}
    for value, cell in labelling.graph.uses():
        target = labelling.labels[cell]
        if value in labelling.graph.constants:
            used.setdefault(value, set()).add(target)
            stored.setdefault(value, set()).add(labelling.stored[cell])
        elif labelling.result(value) != target:
            targets = wanted.setdefault(value, {})
            targets[target] = targets.get(target, 0) + 1
    paths = {
        value: scope.path for scope in labelling.graph.scopes for value in _defined(scope.graph)
    }
    casts = tuple(
        PlannedCast(
            graph=path,
            value=value.name or "",
            source=ir.dtype_name(labelling.labels[labelling.graph.results[value]]),
            target=ir.dtype_name(target),
            consumers=consumers,
        )
        for value, path in paths.items()
        for target, consumers in sorted(wanted.get(value, {}).items())
    )
    storage = tuple(
        PlannedStorage(
            graph=path,
            constant=value.name or "",
            before=ir.dtype_name(labelling.graph.constants[value]),
            stored=_names(stored.get(value, set())),
            used=_names(used.get(value, set())),
        )
        for value, path in paths.items()
        if value in labelling.graph.constants
    )
    return casts, storage


def _defined(graph: ir.Graph) -> list[ir.Value]:
    """The values that a graph defines: inputs, initializers and the results of its nodes."""
    return [
        *graph.inputs,
        *graph.initializers.values(),
        *(value for node in graph for value in node.outputs),
    ]


def _names(dtypes: set[ir.DataType]) -> tuple[str, ...]:
    return tuple(sorted(ir.dtype_name(dtype) for dtype in dtypes))
