"""Choose the exponents of a model from measured ranges."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from mpgraph import ir
from mpgraph.analysis.cells import CellGraph
from mpgraph.analysis.scaling.exactness import (
    Magnitudes,
    constant_change,
    digits_text,
    fits,
    keeps_digits,
    needed_exponent,
)
from mpgraph.analysis.scaling.relations import LARGEST_EPSILON_EXPONENT, Relation, relation
from mpgraph.analysis.scaling.scaling import Operand, Scaling
from mpgraph.analysis.scaling.wants import wanted_exponents

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

    solver = _Solver(graph, relations, known, seen)
    asked: dict[ir.Value, int] = {}
    for _ in range(_ROUNDS):
        solver.solve(order, wanted_exponents(order, relations, seen, asked))
        further = {value: k for value, k in solver.asked() if k > asked.get(value, 0)}
        if not further:
            break
        asked |= further
    return solver.scaling(node for node in order if is_scalable(node))


@dataclass
class _Taken:
    """The exponents at which one node takes operands and constants, while they are looked for."""

    operands: dict[Operand, int] = field(default_factory=dict)
    constants: dict[Operand, int] = field(default_factory=dict)


class _Refusal(Exception):
    """Why a node cannot work with scaled values."""


class _Solver:
    """Sets exponents node by node."""

    def __init__(
        self,
        graph: CellGraph,
        relations: Mapping[ir.Node, Relation],
        constants: Collection[ir.Value],
        seen: Callable[[ir.Value | None], Magnitudes | None],
    ) -> None:
        self._graph = graph
        self._relations = relations
        self._constants = constants
        self._seen = seen
        self._changes: dict[tuple[ir.Value, int], str] = {}
        self._clear()

    def _clear(self) -> None:
        self._values: dict[ir.Value, int] = {}
        self._taken = _Taken()
        self._epsilons: dict[ir.Node, int] = {}
        self._refused: dict[ir.Node, str] = {}

    def solve(self, order: Collection[ir.Node], wants: Mapping[ir.Value, int]) -> None:
        """Set the exponents of all results of ``order`` anew."""
        self._clear()
        for node in order:
            found = self._relations.get(node)
            if found is None:
                continue
            try:
                self._set(node, found, max((wants.get(one, 0) for one in node.outputs), default=0))
            except _Refusal as refusal:
                self._refused[node] = str(refusal)

    def asked(self) -> Iterator[tuple[ir.Value, int]]:
        """Values that a taker wants at a higher exponent than they have."""
        for (node, index), exponent in self._taken.operands.items():
            value = node.inputs[index]
            if value is None or exponent <= self._values.get(value, 0):
                continue
            if len(value.uses()) == 1 and value.producer() in self._relations:
                yield value, exponent

    def scaling(self, scalable: Iterator[ir.Node]) -> Scaling:
        """What was set, with reasons."""
        refused = {
            value: self._refused.get(node) or f"{node.op_type} does not hand on a factor"
            for node in scalable
            for value in node.outputs
            if value not in self._values
            and (found := self._seen(value)) is not None
            and not fits(found.amax)
        }
        amax = {}
        for value in (*self._values, *(node.inputs[index] for node, index in self._taken.operands)):
            found = self._seen(value)
            if value is not None and found is not None:
                amax[value] = found.amax
        return Scaling(
            values=dict(self._values),
            operands=dict(self._taken.operands),
            constants=dict(self._taken.constants),
            epsilons=dict(self._epsilons),
            reasons={value: self._reason(value, k) for value, k in self._values.items()},
            refused=refused,
            amax=amax,
        )

    def _reason(self, value: ir.Value, exponent: int) -> str:
        seen = self._seen(value)
        if seen is None:
            return ""
        cause = "it overflows" if not fits(seen.amax) else "its operand is scaled, or its taker's"
        return (
            f"{cause}: magnitude {seen.amax:.4g}, held as {seen.amax / 2.0**exponent:.4g};"
            f" {digits_text(seen, exponent)}"
        )

    def _set(self, node: ir.Node, found: Relation, wanted: int) -> None:
        if found.absorbs:
            self._absorb(node, found)
        elif found.constant_factor is not None:
            self._linear(node, found, found.constant_factor, wanted)
        elif found.factors:
            self._product(node, found, wanted)
        else:
            bases = (self._base(node.inputs[index]) for index in found.with_result)
            self._finish(node, found, max((wanted, *bases)), _Taken())

    def _absorb(self, node: ir.Node, found: Relation) -> None:
        value = node.inputs[0]
        exponent = 0 if value is None else self._values.get(value, 0)
        if not exponent or (found.epsilon and exponent > LARGEST_EPSILON_EXPONENT):
            return
        self._taken.operands[node, 0] = exponent
        if found.epsilon:
            self._epsilons[node] = exponent

    def _linear(self, node: ir.Node, found: Relation, factor: int, wanted: int) -> None:
        (index,) = found.factors
        base = self._base(node.inputs[index])
        ways = [(base, wanted), (base, base), (wanted, wanted)]
        if wanted > base:
            ways.remove((base, base))
        first = ""
        for before, after in dict.fromkeys(ways):
            taken = _Taken()
            try:
                self._take(node, index, before, taken)
                power = before - after if found.divides else after - before
                self._take_constant(node, factor, power, taken)
                for constant in found.with_factor:
                    self._take_constant(node, constant, before, taken)
                self._finish(node, found, after, taken)
            except _Refusal as refusal:
                first = first or str(refusal)
                continue
            return
        raise _Refusal(first)

    def _product(self, node: ir.Node, found: Relation, wanted: int) -> None:
        bases = [self._base(node.inputs[index]) for index in found.factors]
        missing = max(0, wanted - sum(bases))
        ways = [(bases[0] + missing, bases[1]), (bases[0], bases[1] + missing)]
        first = ""
        for exponents in dict.fromkeys(ways):
            taken = _Taken()
            try:
                for index, exponent in zip(found.factors, exponents, strict=True):
                    self._take(node, index, exponent, taken)
                self._finish(node, found, sum(exponents), taken)
            except _Refusal as refusal:
                first = first or str(refusal)
                continue
            return
        raise _Refusal(first)

    def _finish(self, node: ir.Node, found: Relation, exponent: int, taken: _Taken) -> None:
        """Give the results of a node an exponent, if all that belongs to it can follow."""
        for index in found.with_result:
            value = node.inputs[index]
            if value is not None and value in self._constants:
                self._take_constant(node, index, exponent, taken)
            elif value is not None:
                self._take(node, index, exponent, taken)
        results = [value for value in node.outputs if value in self._graph.results]
        for value in results:
            self._check(value, exponent)
        if exponent:
            self._values |= dict.fromkeys(results, exponent)
        self._taken.operands |= taken.operands
        self._taken.constants |= taken.constants

    def _base(self, value: ir.Value | None) -> int:
        """The exponent at which a value is taken unless another one is needed."""
        if value is None or value in self._constants:
            return 0
        exponent = self._values.get(value, 0)
        seen = self._seen(value)
        return exponent if seen is None or fits(seen.amax, exponent) else needed_exponent(seen.amax)

    def _take(self, node: ir.Node, index: int, exponent: int, taken: _Taken) -> None:
        value = node.inputs[index]
        if value is None or value not in self._graph.results:
            return
        if exponent != self._values.get(value, 0):
            self._check(value, exponent)
        if exponent:
            taken.operands[node, index] = exponent

    def _check(self, value: ir.Value, exponent: int) -> None:
        seen = self._seen(value)
        if not exponent and (seen is None or fits(seen.amax)):
            return
        if seen is None:
            raise _Refusal(f"{value.name} was not measured")
        if not fits(seen.amax, exponent):
            raise _Refusal(f"{value.name} would still be {seen.amax / 2.0**exponent:.4g}")
        if not keeps_digits(seen, exponent):
            raise _Refusal(
                f"{value.name} times 2^-{exponent} would fall below the normal range:"
                f" its mean magnitude is {seen.mean_abs:.2g}"
            )

    def _take_constant(self, node: ir.Node, index: int, exponent: int, taken: _Taken) -> None:
        value = node.inputs[index]
        if value is None or not exponent:
            return
        if (value, exponent) not in self._changes:
            constant = ir.constant_tensor(value)
            self._changes[value, exponent] = (
                "its content is not known"
                if constant is None
                else constant_change(constant, exponent)
            )
        problem = self._changes[value, exponent]
        if problem:
            raise _Refusal(f"{value.name} cannot be taken times 2^{-exponent}: {problem}")
        taken.constants[node, index] = exponent
