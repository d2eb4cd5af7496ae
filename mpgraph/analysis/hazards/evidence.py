"""What hazard rules look at: cells, types, constants and, where data was given, statistics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from mpgraph import ir
from mpgraph.analysis.cells import CellGraph
from mpgraph.analysis.dtype_flow import TypeFlow
from mpgraph.analysis.hazard import Hazard
from mpgraph.analysis.hazards.handovers import Handovers, find_handovers
from mpgraph.analysis.hazards.numbers import Number, find_numbers
from mpgraph.analysis.hazards.ranges import ConstantRange, range_of_tensor, smallest_lost
from mpgraph.analysis.scaling import HEADROOM, NO_SCALING, Scaling

__all__ = ["Evidence", "Statistics"]


class Statistics(Protocol):
    """What a measurement knows about one value."""

    @property
    def amax(self) -> float:
        """The largest finite magnitude."""
        ...

    @property
    def amin_nonzero(self) -> float:
        """The smallest nonzero magnitude; infinity if all elements are zero."""
        ...

    @property
    def integer_valued(self) -> bool:
        """Whether every element is an integer."""
        ...


@dataclass(frozen=True)
class Evidence:
    """The facts about a model that speak for or against one low dtype.

    Attributes:
        graph: The cells of the model.
        flow: The types of its values.
        dtype: The low dtype in question.
        measured: Statistics by value name; empty without data.
        ranges: Ranges of constants, filled as they are asked for.
        smallest: The smallest nonzero magnitudes of constants, as far as they are known: tensors
            that lose nothing are then not read for it.
        unread: Constants whose content is not looked at.
        scaling: Which values are held, and which constants are taken, times a power of two.
    """

    graph: CellGraph
    flow: TypeFlow
    dtype: ir.DataType
    measured: Mapping[str, Statistics]
    ranges: dict[ir.Value, ConstantRange] = field(default_factory=dict)
    scaling: Scaling = NO_SCALING
    smallest: Mapping[ir.Value, float] = field(default_factory=dict)
    unread: AbstractSet[ir.Value] = frozenset()

    @property
    def limits(self) -> ir.FloatLimits:
        """The range and precision of the low dtype."""
        return ir.limits(self.dtype)

    @cached_property
    def nodes(self) -> tuple[ir.Node, ...]:
        """Every node of the model."""
        return tuple(node for scope in self.graph.scopes for node in scope.graph)

    @cached_property
    def consumers(self) -> Mapping[ir.Value, tuple[int, ...]]:
        """For each value, the cells that take it."""
        found: dict[ir.Value, set[int]] = {}
        for value, cell in self.graph.uses():
            found.setdefault(value, set()).add(cell)
        return {value: tuple(sorted(cells)) for value, cells in found.items()}

    @cached_property
    def output_cells(self) -> Mapping[ir.Value, tuple[int, ...]]:
        """For each output of a subgraph or function body, the cells that it runs into."""
        found: dict[ir.Value, list[int]] = {}
        for graph, cells in self.graph.graph_outputs.items():
            for value, cell in zip(graph.outputs, cells, strict=True):
                if cell is not None:
                    found.setdefault(value, []).append(cell)
        return {value: tuple(cells) for value, cells in found.items()}

    @cached_property
    def handovers(self) -> Handovers:
        """Where values go into the bodies of control flow and functions, and out."""
        return find_handovers(self.graph, self.flow)

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """The numbers that nodes have in attributes or make of integers."""
        return find_numbers(self.graph, self.flow)

    @cached_property
    def tensors(self) -> Mapping[ir.Value, ir.TensorProtocol | None]:
        """The content of constants, and of graph inputs that have a default."""
        defaults = (
            value
            for scope in self.graph.scopes
            for value in scope.graph.inputs
            if value.const_value is not None and value in self.graph.results
        )
        return {
            value: None if value in self.unread else ir.constant_tensor(value)
            for value in (*self.graph.constants, *defaults)
        }

    def statistics(self, value: ir.Value) -> Statistics | None:
        """The measured statistics of a value."""
        return self.measured.get(value.name or "")

    def range_of(self, value: ir.Value) -> ConstantRange | None:
        """The range of what is in ``tensors``, as it is taken; None for anything else."""
        if value not in self.tensors:
            return None
        if value not in self.ranges:
            exponents = self.scaling.constant_exponents.get(value, (0,))
            self.ranges[value] = range_of_tensor(self.tensors[value], min(exponents))
        return self.ranges[value]

    def smallest_lost(self, value: ir.Value) -> float | None:
        """The smallest element of a constant, as it is taken, that the low dtype loses."""
        exponents = self.scaling.constant_exponents.get(value, (0,))
        known = self.smallest.get(value)
        if known is not None and known * 2.0 ** -max(exponents) >= self.limits.smallest_normal:
            return None
        return smallest_lost(self.tensors.get(value), self.dtype, max(exponents))

    def scalar(self, value: ir.Value | None) -> float | None:
        """The number that a one-element float constant holds; None for anything else."""
        if value is None or value not in self.graph.constants or value in self.unread:
            return None
        constant = ir.constant_tensor(value)
        if constant is None or constant.size != 1:
            return None
        return float(constant.numpy().reshape(-1)[0])

    def around(self, value: ir.Value) -> tuple[int, ...]:
        """All cells that must be wide for a value to stay wide: its producer's and its takers'."""
        producer = self.graph.results.get(value)
        own = () if producer is None else (producer,)
        return (*own, *self.consumers.get(value, ()))

    def overflowing(self, value: ir.Value, amax: float) -> tuple[int, ...]:
        """The cells that must be wide because a value of this magnitude does not fit.

        A factor of ``HEADROOM`` is left. Where the value is held or taken times a power of two,
        only those cells that see it too large.
        """
        scaling, limit = self.scaling, self.limits.max / HEADROOM
        if value not in scaling.touched:
            return self.around(value) if amax > limit else ()
        producer = self.graph.results.get(value)
        cells = [producer] if amax > limit * 2.0 ** scaling.exponent(value) else []
        for use in value.uses():
            if amax > limit * 2.0 ** scaling.taken(use.node, use.idx):
                cells += self.graph.operands.get(use.node, ())[use.idx : use.idx + 1]
        if amax > limit:
            cells += self.output_cells.get(value, ())
        return tuple(dict.fromkeys(cell for cell in cells if cell is not None))

    def between(self, value: ir.Value, node: ir.Node) -> tuple[int, ...]:
        """The cells that must be wide for a value to reach one node wide, whoever else takes it."""
        producer = self.graph.results.get(value)
        own = () if producer is None else (producer,)
        return (*own, *self.cells_of([node]))

    def cells_of(self, nodes: Iterable[ir.Node]) -> tuple[int, ...]:
        """The cells of nodes: those of their operands and results."""
        return tuple(dict.fromkeys(self._cells_of(nodes)))

    def _cells_of(self, nodes: Iterable[ir.Node]) -> Iterator[int]:
        for node in nodes:
            for cell in self.graph.operands.get(node, ()):
                if cell is not None:
                    yield cell
            for value in node.outputs:
                if value in self.graph.results:
                    yield self.graph.results[value]

    def hazard(
        self,
        kind: str,
        finding: str,
        value: ir.Value,
        evidence: str,
        cells: Iterable[int],
        *,
        measured: bool = False,
    ) -> Hazard:
        """A hazard of the low dtype at ``value``."""
        return Hazard(
            kind=kind,
            finding=finding,
            value=value.name or "",
            evidence=evidence,
            measured=measured,
            dtype=self.dtype,
            cells=tuple(cells),
            subject=value,
        )
