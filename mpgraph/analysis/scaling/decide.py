"""Choose the exponents of a model from measured ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from mpgraph import ir
from mpgraph.analysis.cells import CellGraph
from mpgraph.analysis.scaling.exactness import Magnitudes, digits_text, fits
from mpgraph.analysis.scaling.relations import relation
from mpgraph.analysis.scaling.scaling import Scaling
from mpgraph.analysis.scaling.solver import Solver
from mpgraph.analysis.scaling.wants import Seen, wanted_exponents

__all__ = ["decide_scaling"]

_ROUNDS = 3
"""How often takers may ask for more: residual sums one behind the other need the second time."""


def decide_scaling(
    graph: CellGraph,
    measured: Mapping[str, Magnitudes],
    is_scalable: Callable[[ir.Node], bool],
) -> Scaling:
    """Scale values that float16 cannot hold, wherever operators allow it.

    Exponents run forwards: a product with a constant takes what its result needs into the
    constant, a homogeneous operator hands on what it gets, a normalisation takes any exponent into
    its epsilon, everything else takes unscaled values. Values without measurements, such as those
    inside functions, stay unscaled.

    Args:
        graph: The cells of the model.
        measured: Magnitudes by value name.
        is_scalable: Whether a node may compute in float16, and so may give scaled values.
    """
    order = [node for scope in graph.scopes if scope.function is None for node in scope.graph]
    known = {value for value in graph.constants if ir.constant_tensor(value) is not None}
    relations = {
        node: found
        for node in order
        if is_scalable(node) and (found := relation(node, known.__contains__)) is not None
    }

    def seen(value: ir.Value | None) -> Magnitudes | None:
        if value is None or value not in graph.results:
            return None
        return measured.get(value.name or "")

    solver = Solver(graph, relations, known, seen)
    asked: dict[ir.Value, int] = {}
    for _ in range(_ROUNDS):
        solver.solve(order, wanted_exponents(order, relations, seen, asked))
        further = {value: k for value, k in _asked(solver, relations) if k > asked.get(value, 0)}
        if not further:
            break
        asked |= further
    return Scaling(
        values=solver.values,
        operands=solver.taken.operands,
        constants=solver.taken.constants,
        epsilons=solver.epsilons,
        reasons={value: _reason(seen(value), k) for value, k in solver.values.items()},
        refused=dict(_refused(solver, filter(is_scalable, order), seen)),
        amax=dict(_magnitudes(solver, seen)),
    )


def _asked(solver: Solver, relations: Mapping[ir.Node, object]) -> Iterator[tuple[ir.Value, int]]:
    """Values that their only taker wants at a higher exponent than they have."""
    for (node, index), exponent in solver.taken.operands.items():
        value = node.inputs[index]
        if value is None or exponent <= solver.values.get(value, 0):
            continue
        if len(value.uses()) == 1 and value.producer() in relations:
            yield value, exponent


def _refused(
    solver: Solver, scalable: Iterator[ir.Node], seen: Seen
) -> Iterator[tuple[ir.Value, str]]:
    """Values that nodes give unscaled although they are too large, with the reason."""
    for node in scalable:
        for value in node.outputs:
            found = seen(value)
            if value not in solver.values and found is not None and not fits(found.amax):
                reason = f"{node.op_type} does not hand on a factor"
                yield value, solver.refused.get(node) or reason


def _magnitudes(solver: Solver, seen: Seen) -> Iterator[tuple[ir.Value, float]]:
    taken = (node.inputs[index] for node, index in solver.taken.operands)
    for value in dict.fromkeys((*solver.values, *taken)):
        found = seen(value)
        if value is not None and found is not None:
            yield value, found.amax


def _reason(seen: Magnitudes | None, exponent: int) -> str:
    if seen is None:
        return ""
    cause = "its operand or its taker is scaled" if fits(seen.amax) else "it overflows"
    return (
        f"{cause}: magnitude {seen.amax:.4g}, held as {seen.amax / 2.0**exponent:.4g};"
        f" {digits_text(seen, exponent)}"
    )
