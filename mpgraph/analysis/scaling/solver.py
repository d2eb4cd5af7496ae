"""Set the exponents of results one node after the other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from mpgraph import ir
from mpgraph.analysis.cells import CellGraph
from mpgraph.analysis.scaling.exactness import (
    Magnitudes,
    constant_change,
    constant_overflow,
    fits,
    keeps_digits,
    needed_exponent,
)
from mpgraph.analysis.scaling.relations import LARGEST_EPSILON_EXPONENT, Relation
from mpgraph.analysis.scaling.scaling import Operand

__all__ = ["Solver", "Taken"]

_Check = Callable[[ir.TensorProtocol, int], str]
"""Why a constant cannot be taken times 2^-exponent; empty if it can."""


@dataclass
class Taken:
    """The exponents at which one node takes operands and constants, while they are looked for."""

    operands: dict[Operand, int] = field(default_factory=dict)
    constants: dict[Operand, int] = field(default_factory=dict)


class _Refusal(Exception):
    """Why a node cannot work with scaled values."""


class Solver:
    """Sets exponents node by node.

    Args:
        graph: The cells of the model.
        relations: How exponents run through nodes; those without one take and give unscaled values.
        constants: The float constants of known content.
        seen: What was measured of a value.

    Attributes:
        values: The exponents of results, where they are not 0.
        taken: The exponents at which nodes take operands and constants, where they are not 0.
        epsilons: The exponents of the operands of normalisations.
        refused: Why a node takes and gives unscaled values although one of them is too large.
    """

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
        self._problems: dict[tuple[ir.Value, int, _Check], str] = {}
        self._clear()

    def _clear(self) -> None:
        self.values: dict[ir.Value, int] = {}
        self.taken = Taken()
        self.epsilons: dict[ir.Node, int] = {}
        self.refused: dict[ir.Node, str] = {}

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
                self.refused[node] = str(refusal)

    def _set(self, node: ir.Node, found: Relation, wanted: int) -> None:
        if found.absorbs:
            self._absorb(node, found)
        elif found.constant_factor is not None:
            self._linear(node, found, found.constant_factor, wanted)
        elif found.factors:
            self._product(node, found, wanted)
        else:
            bases = (self._base(node.inputs[index]) for index in found.with_result)
            self._finish(node, found, max((wanted, *bases)), Taken())

    def _absorb(self, node: ir.Node, found: Relation) -> None:
        value = node.inputs[0]
        exponent = 0 if value is None else self.values.get(value, 0)
        if not exponent or (found.epsilon and exponent > LARGEST_EPSILON_EXPONENT):
            return
        self.taken.operands[node, 0] = exponent
        if found.epsilon:
            self.epsilons[node] = exponent

    def _linear(self, node: ir.Node, found: Relation, factor: int, wanted: int) -> None:
        (index,) = found.factors
        base = self._base(node.inputs[index])
        ways = [(base, wanted), (base, base), (wanted, wanted)]
        if wanted > base:
            ways.remove((base, base))
        first = ""
        for before, after in dict.fromkeys(ways):
            taken = Taken()
            try:
                self._take(node, index, before, taken)
                power = before - after if found.divides else after - before
                self._take_constant(node, factor, power, constant_change, taken)
                for constant in found.with_factor:
                    self._take_constant(node, constant, before, constant_overflow, taken)
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
            taken = Taken()
            try:
                for index, exponent in zip(found.factors, exponents, strict=True):
                    self._take(node, index, exponent, taken)
                self._finish(node, found, sum(exponents), taken)
            except _Refusal as refusal:
                first = first or str(refusal)
                continue
            return
        raise _Refusal(first)

    def _finish(self, node: ir.Node, found: Relation, exponent: int, taken: Taken) -> None:
        """Give the results of a node an exponent, if all that belongs to it can follow."""
        for index in found.with_result:
            value = node.inputs[index]
            if value is not None and value in self._constants:
                # What it loses, a result of this exponent would lose as well.
                self._take_constant(node, index, exponent, constant_overflow, taken)
            elif value is not None:
                self._take(node, index, exponent, taken)
        results = [value for value in node.outputs if value in self._graph.results]
        for value in results:
            self._check(value, exponent)
        if exponent:
            self.values |= dict.fromkeys(results, exponent)
        self.taken.operands |= taken.operands
        self.taken.constants |= taken.constants

    def _base(self, value: ir.Value | None) -> int:
        """The exponent at which a value is taken unless another one is needed."""
        if value is None or value in self._constants:
            return 0
        exponent = self.values.get(value, 0)
        seen = self._seen(value)
        return exponent if seen is None or fits(seen.amax, exponent) else needed_exponent(seen.amax)

    def _take(self, node: ir.Node, index: int, exponent: int, taken: Taken) -> None:
        value = node.inputs[index]
        if value is None or value not in self._graph.results:
            return
        if exponent != self.values.get(value, 0):
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

    def _take_constant(
        self, node: ir.Node, index: int, exponent: int, check: _Check, taken: Taken
    ) -> None:
        value = node.inputs[index]
        if value is None or not exponent:
            return
        key = value, exponent, check
        if key not in self._problems:
            constant = ir.constant_tensor(value)
            self._problems[key] = (
                "its content is not known" if constant is None else check(constant, exponent)
            )
        if self._problems[key]:
            power = f"2^{-exponent}"
            raise _Refusal(f"{value.name} cannot be taken times {power}: {self._problems[key]}")
        taken.constants[node, index] = exponent
