"""Constants with elements that a low dtype loses, on their way to where small numbers count."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from mpgraph import ir
from mpgraph.analysis.hazard import Hazard
from mpgraph.analysis.hazards.evidence import Evidence
from mpgraph.analysis.hazards.names import short_name
from mpgraph.analysis.hazards.operators import MOVES
from mpgraph.analysis.hazards.ranges import TYPICAL_MAGNITUDE, is_lost
from mpgraph.analysis.hazards.vanishing import vanishing

__all__ = ["constant_small_divisors", "quotients_by_small"]

_SAFE_EPSILON = 2.0**-20
"""Beside this much, what float16 takes from a variance, up to 2^-25, does not show."""

_FIRST = MOVES | {"Div", "LeakyRelu", "Pow", "Relu", "Sqrt", "Trilu"}
"""Operators that give small elements for small ones of their first operand."""

_ANY = frozenset({"Concat", "Min", "Mul", "Pad", "ScatterElements", "ScatterND", "Where"})
"""Operators that give small elements for small ones of any operand."""

_GUARDS = frozenset({"Add", "Clip", "Max", "Sub", "Sum"})
"""Operators that give nothing but a small operand where the other one is zero."""

_Site = tuple[ir.Node, int]


def constant_small_divisors(evidence: Evidence) -> Iterator[Hazard]:
    """Divisors, and operands of roots, logarithms and powers, with elements that the dtype loses.

    An element that is flushed to zero makes the quotient infinite. It comes from a constant, or is
    a small number that keeps a divisor from zero. All operators from there to the quotient stay
    wide, and those on which such elements come to the other operand of the quotient.
    """
    search = _Search(evidence)
    for value, smallest in search.found.items():
        yield evidence.hazard(
            "constant-small-divisor",
            f"constant underflows {short_name(evidence.dtype)}",
            value,
            f"elements down to {smallest:.4g} reach a quotient, root or logarithm",
            search.cells(value),
        )


def quotients_by_small(evidence: Evidence) -> Iterator[tuple[ir.Value, float]]:
    """Results of divisions by such elements, where nothing was measured.

    Each comes with the magnitude that it has for typical dividends.
    """
    search = _Search(evidence)
    reached = search.paths(search.sites, guarded=False) if search.found else {}
    for node, index in search.sites:
        value, result = node.inputs[index], node.outputs[0]
        if value not in reached or evidence.statistics(result) is not None:
            continue
        if node.op_type in ("Div", "Reciprocal"):
            yield result, TYPICAL_MAGNITUDE / reached[value]
        elif node.op_type == "Pow":
            exponent = evidence.scalar(node.inputs[1]) or 1.0
            yield result, TYPICAL_MAGNITUDE * reached[value] ** exponent


@dataclass(frozen=True)
class _Search:
    """Looks for ways from constants to sites: first backwards from these, then forwards."""

    evidence: Evidence

    @cached_property
    def vanishing(self) -> Mapping[ir.Value, float]:
        return vanishing(self.evidence)

    @cached_property
    def sites(self) -> dict[_Site, None]:
        """The operands for which small elements count, unless data shows that they have none."""
        normal = self.evidence.limits.smallest_normal
        found: dict[_Site, None] = {}
        for node in self.evidence.nodes:
            index = _site(self.evidence, node)
            value = None if index is None else node.inputs[index]
            if index is None or value is None:
                continue
            seen = self.evidence.statistics(value)
            if seen is None or seen.amin_nonzero < normal:
                found[node, index] = None
        return found

    @cached_property
    def dividends(self) -> dict[_Site, None]:
        """The operands that are divided by, or multiplied by the reciprocal of, such elements."""
        divisors = self.paths(self.sites)
        found: dict[_Site, None] = {}
        for node, index in self.sites:
            if node.inputs[index] not in divisors:
                continue
            if node.op_type == "Div":
                found[node, 0] = None
            for use in node.outputs[0].uses() if node.op_type in ("Pow", "Reciprocal") else ():
                if use.node.op_type == "Mul":
                    found[use.node, 1 - use.idx] = None
        return found

    @cached_property
    def found(self) -> dict[ir.Value, float]:
        """All values on such ways, with their smallest magnitude."""
        return {**self.paths(self.dividends), **self.paths(self.sites)}

    def cells(self, value: ir.Value) -> tuple[int, ...]:
        """The cells of what gives a value and of all that takes it on such a way."""
        takers = [
            use.node
            for use in value.uses()
            if (use.node, use.idx) in self.sites
            or (use.node, use.idx) in self.dividends
            or (
                self._hands_on(use.node, use.idx, value, guarded=True)
                and any(result in self.found for result in use.node.outputs)
            )
        ]
        producer = self.evidence.graph.results.get(value)
        own = () if producer is None else (producer,)
        return (*own, *self.evidence.cells_of(takers))

    def paths(self, sites: Collection[_Site], *, guarded: bool = True) -> dict[ir.Value, float]:
        """The values from small constants to sites; by way of a guard only if ``guarded``.

        Each comes with the smallest element that reaches it. What has its root taken may be large
        enough afterwards.
        """
        behind = self._behind(sites, guarded)
        found: dict[ir.Value, float] = {}
        for start in sorted(self._starts(behind, guarded), key=lambda start: start[1]):
            pending = [start]
            while pending:
                value, smallest = pending.pop()
                if value in found or value not in behind:
                    continue
                found[value] = smallest
                pending.extend(self._onwards(value, smallest, guarded))
        return found

    def _behind(self, sites: Collection[_Site], guarded: bool) -> dict[ir.Value, None]:
        found = {value: None for node, index in sites if (value := node.inputs[index]) is not None}
        pending = deque(found)
        while pending:
            for value in self._backwards(pending.popleft(), guarded):
                if value not in found:
                    found[value] = None
                    pending.append(value)
        return found

    def _starts(
        self, behind: Collection[ir.Value], guarded: bool
    ) -> Iterator[tuple[ir.Value, float]]:
        for value in behind:
            smallest = self.vanishing.get(value) or self.evidence.smallest_lost(value)
            if smallest is None and guarded:
                smallest = _lost_bound(value.producer(), self.evidence.dtype)
            if smallest is not None:
                yield value, smallest

    def _onwards(
        self, value: ir.Value, smallest: float, guarded: bool
    ) -> Iterator[tuple[ir.Value, float]]:
        for handed in self.evidence.handovers.onwards.get(value, ()):
            yield handed, smallest
        for use in value.uses():
            root = smallest**0.5 if use.node.op_type == "Sqrt" else smallest
            still_small = root < self.evidence.limits.smallest_normal
            if still_small and self._hands_on(use.node, use.idx, value, guarded):
                yield from ((result, root) for result in use.node.outputs)

    def _backwards(self, value: ir.Value, guarded: bool) -> Iterator[ir.Value]:
        yield from self.evidence.handovers.backwards.get(value, ())
        node = value.producer()
        if node is None:
            return
        for index, operand in enumerate(node.inputs):
            if operand is not None and self._hands_on(node, index, operand, guarded):
                yield operand

    def _hands_on(self, node: ir.Node, index: int, value: ir.Value, guarded: bool) -> bool:
        if node in self.evidence.handovers.owners:
            return False
        if node.op_type in _GUARDS:
            return guarded and value in self.vanishing
        return node.op_type in _ANY or (index == 0 and node.op_type in _FIRST)


def _site(evidence: Evidence, node: ir.Node) -> int | None:
    """The operand of a node that must not be flushed to zero."""
    if node.domain != "":
        return None
    if node.op_type == "Div":
        return 1
    if node.op_type in ("Sqrt", "Reciprocal", "Log"):
        return 0
    if node.op_type == "Pow":
        exponent = evidence.scalar(node.inputs[1])
        return None if exponent is None or exponent >= 1 else 0
    if node.op_type == "BatchNormalization":
        epsilon = node.attributes.get_float("epsilon", 1e-5)
        return 4 if epsilon is not None and epsilon < _SAFE_EPSILON else None
    return None


def _lost_bound(node: ir.Node | None, dtype: ir.DataType) -> float | None:
    """The smallest result of a Clip of before opset 11, whose bounds are attributes, if lost."""
    if node is None or node.op_type != "Clip":
        return None
    bound = node.attributes.get_float("min", 0.0) or 0.0
    return bound if is_lost(bound, dtype) else None
