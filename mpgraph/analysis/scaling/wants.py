"""Which exponent each value should have: what its range asks for, and what its taker asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mpgraph import ir
from mpgraph.analysis.scaling.exactness import Magnitudes, keeps_digits, needed_exponent
from mpgraph.analysis.scaling.relations import Relation

__all__ = ["Seen", "wanted_exponents"]

Seen = Callable[[ir.Value | None], Magnitudes | None]


def wanted_exponents(
    order: Sequence[ir.Node],
    relations: Mapping[ir.Node, Relation],
    seen: Seen,
    asked: Mapping[ir.Value, int],
) -> dict[ir.Value, int]:
    """The exponents that results of ``order`` should have, where they are above 0.

    A value that only one node takes gets the exponent that this node needs for its result, so that
    its producer gives it so and nothing stands between them.

    Args:
        order: Nodes, each after those whose results it takes.
        relations: How exponents run through them; a node without one gives unscaled results.
        seen: What was measured of a value.
        asked: Exponents that takers have asked for before.
    """
    wants: dict[ir.Value, int] = {}
    for node in reversed(order):
        found = relations.get(node)
        if found is None or found.absorbs:
            continue
        for value in node.outputs:
            measured = seen(value)
            if measured is not None:
                need = max(needed_exponent(measured.amax), asked.get(value, 0))
                wants[value] = max(wants.get(value, 0), need)
        wanted = max((wants.get(value, 0) for value in node.outputs), default=0)
        if wanted:
            _hand_back(node, found, wanted, relations, seen, wants)
    return {value: exponent for value, exponent in wants.items() if exponent}


def _hand_back(
    node: ir.Node,
    found: Relation,
    wanted: int,
    relations: Mapping[ir.Node, Relation],
    seen: Seen,
    wants: dict[ir.Value, int],
) -> None:
    indices = found.with_result
    if len(found.factors) == 2:
        willing = [
            index for index in found.factors if _gives(node.inputs[index], wanted, relations, seen)
        ]
        indices = (*indices, *willing[:1])
    for index in indices:
        value = node.inputs[index]
        if value is not None and _gives(value, wanted, relations, seen):
            wants[value] = max(wants.get(value, 0), wanted)


def _gives(
    value: ir.Value | None, wanted: int, relations: Mapping[ir.Node, Relation], seen: Seen
) -> bool:
    """Whether a value can come scaled from its producer without disturbing anyone else."""
    producer = None if value is None else value.producer()
    measured = seen(value)
    if value is None or producer is None or measured is None:
        return False
    found = relations.get(producer)
    if found is None or found.absorbs or value.is_graph_output() or len(value.uses()) != 1:
        return False
    return keeps_digits(measured, wanted)
