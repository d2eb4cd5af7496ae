"""Which values are held as a power of two of themselves, and who takes them how."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from mpgraph import ir

__all__ = ["NO_SCALING", "Scaling"]

Operand = tuple[ir.Node, int]


@dataclass(frozen=True)
class Scaling:
    """The exponents of a model; what is not named has exponent 0.

    A value with exponent ``k`` is held as value * 2^-k. Where a node takes it at another exponent
    than it has, a multiplication stands between them.

    Attributes:
        values: The exponent of each value that a node gives scaled.
        operands: The exponent at which a node takes an operand that is no constant.
        constants: The exponent at which a node takes a constant; negative where it grows.
        epsilons: For a normalisation, the exponent of its operand: its epsilon is taken times
            2^-2k, so that the result is that of the unscaled operand.
        reasons: Why each value of ``values`` is scaled, and how exactly.
        refused: Why a value that overflows is not scaled.
        amax: The largest magnitude measured of each value that is scaled, or taken so.
    """

    values: Mapping[ir.Value, int] = field(default_factory=dict)
    operands: Mapping[Operand, int] = field(default_factory=dict)
    constants: Mapping[Operand, int] = field(default_factory=dict)
    epsilons: Mapping[ir.Node, int] = field(default_factory=dict)
    reasons: Mapping[ir.Value, str] = field(default_factory=dict)
    refused: Mapping[ir.Value, str] = field(default_factory=dict)
    amax: Mapping[ir.Value, float] = field(default_factory=dict)

    def exponent(self, value: ir.Value) -> int:
        """The exponent at which ``value`` is held."""
        return self.values.get(value, 0)

    def taken(self, node: ir.Node, index: int) -> int:
        """The exponent at which ``node`` takes its operand ``index``."""
        return self.operands.get((node, index), 0)

    @cached_property
    def touched(self) -> frozenset[ir.Value]:
        """Values that are held or taken scaled."""
        taken = {node.inputs[index] for node, index in self.operands}
        return frozenset(value for value in {*self.values, *taken} if value is not None)

    @cached_property
    def constant_exponents(self) -> Mapping[ir.Value, tuple[int, ...]]:
        """For each constant that anyone takes scaled, the exponents of all its uses."""
        scaled = {node.inputs[index] for node, index in self.constants}
        return {
            value: tuple(self.constants.get((use.node, use.idx), 0) for use in value.uses())
            for value in scaled
            if value is not None
        }

    def kept_where(self, is_wanted: Callable[[ir.Node], bool], refusal: str = "") -> Scaling:
        """Only the connected parts in which ``is_wanted`` holds of a node.

        Args:
            is_wanted: Asked about each node that gives a scaled value, or takes an operand so.
            refusal: Why the values of the other parts are not scaled.
        """
        parts = _Parts(self)
        wanted = {parts.find(node) for node in parts.nodes if is_wanted(node)}

        def kept(node: ir.Node | None) -> bool:
            return node is not None and parts.find(node) in wanted

        values = {value: k for value, k in self.values.items() if kept(value.producer())}
        dropped = {value: refusal for value in self.values if value not in values}
        return Scaling(
            values=values,
            operands={one: k for one, k in self.operands.items() if kept(one[0])},
            constants={one: k for one, k in self.constants.items() if kept(one[0])},
            epsilons={node: k for node, k in self.epsilons.items() if kept(node)},
            reasons={value: self.reasons[value] for value in values},
            refused={**self.refused, **dropped},
            amax=self.amax,
        )


class _Parts:
    """The nodes around scaled values, joined where they hand one to each other."""

    def __init__(self, scaling: Scaling) -> None:
        self._parents: dict[ir.Node, ir.Node] = {}
        for node in _nodes(scaling):
            self._parents.setdefault(node, node)
        for node, index in scaling.operands:
            value = node.inputs[index]
            if value is not None and value in scaling.values:
                self._join(node, value.producer())

    @property
    def nodes(self) -> tuple[ir.Node, ...]:
        return tuple(self._parents)

    def find(self, node: ir.Node) -> ir.Node:
        while self._parents.get(node, node) is not node:
            self._parents[node] = self._parents[self._parents[node]]
            node = self._parents[node]
        return node

    def _join(self, first: ir.Node, second: ir.Node | None) -> None:
        if second is not None:
            self._parents[self.find(first)] = self.find(second)


def _nodes(scaling: Scaling) -> Iterator[ir.Node]:
    for value in scaling.values:
        producer = value.producer()
        if producer is not None:
            yield producer
    for node, _ in (*scaling.operands, *scaling.constants):
        yield node


NO_SCALING = Scaling()
"""No value is scaled."""
