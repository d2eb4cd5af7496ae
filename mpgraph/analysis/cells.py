"""Precision cells: the units to which a float dtype can be given, and what binds them together.

A *cell* is a set of places that must share one float dtype: the type variables of a node that take
part in a precision change, a graph input or output, one loop-carried value with its initial value,
its body input and its body output, one output of an If, one parameter of a local function. Where
two cells meet in a tensor value a Cast can stand between them; where they meet in a sequence or an
optional it cannot, and they are one cell. What a schema binds to a fixed type belongs to a *fixed*
cell of that dtype and is left alone by construction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from mpgraph import ir

__all__ = ["Cell", "CellGraph", "CellKind", "Site"]

CellKind = Literal["node", "input", "output", "carried", "branch", "scan", "parameter", "fixed"]


class Site(NamedTuple):
    """One place that belongs to a cell.

    Attributes:
        kind: What sort of place it is.
        key: A name of the place that stays the same as long as the graph does, such as
            ``main#12`` (the node at index 12) or ``main#3:carried 0``.
        node: The node, or the control-flow node or call that owns the place; None for graph inputs
            and outputs and function parameters.
        variables: The type variables of the node that follow the cell.
    """

    kind: CellKind
    key: str
    node: ir.Node | None = None
    variables: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Cell:
    """A set of places that share one float dtype.

    Attributes:
        index: Its position in ``CellGraph.cells``.
        dtype: The dtype that the model gives it now.
        sites: The places in it; empty for fixed cells.
        fixed: Why its dtype cannot change; empty where it can.
    """

    index: int
    dtype: ir.DataType
    sites: tuple[Site, ...]
    fixed: str = ""

    @property
    def nodes(self) -> Iterator[ir.Node]:
        """The nodes whose own type variables are in the cell."""
        return (site.node for site in self.sites if site.kind == "node" and site.node is not None)

    @property
    def key(self) -> str:
        """The name of its first place."""
        return self.sites[0].key if self.sites else f"fixed {ir.dtype_name(self.dtype)}"


@dataclass(frozen=True)
class CellGraph:
    """All cells of a model and how values run between them.

    Attributes:
        cells: The cells.
        results: For each float value that is no constant, the cell that gives it its dtype.
        operands: For each node, per operand, the cell it is bound to; None where the operand is
            absent, holds no float or may have any dtype.
        graph_outputs: The same for the outputs of every graph and function body.
        constants: Float initializers and results of Constant nodes, with their dtype.
        variables: For each node, per operand, the type variable it is bound to.
        fixed: For each dtype, the cell of all places that are bound to it.
        scopes: Every graph of the model, with its path.
    """

    cells: tuple[Cell, ...]
    results: Mapping[ir.Value, int]
    operands: Mapping[ir.Node, Sequence[int | None]]
    graph_outputs: Mapping[ir.Graph, Sequence[int | None]]
    constants: Mapping[ir.Value, ir.DataType]
    variables: Mapping[ir.Node, Sequence[str | None]]
    fixed: Mapping[ir.DataType, int]
    scopes: tuple[ir.GraphScope, ...]

    def cell_of(self, value: ir.Value) -> Cell | None:
        """The cell that gives ``value`` its dtype; None for constants and non-floats."""
        index = self.results.get(value)
        return None if index is None else self.cells[index]

    def uses(self) -> Iterator[tuple[ir.Value, int]]:
        """Every (value, consuming cell) of the model, constants included."""
        for node, cells in self.operands.items():
            for value, cell in zip(node.inputs, cells, strict=True):
                if value is not None and cell is not None:
                    yield value, cell
        for graph, cells in self.graph_outputs.items():
            for value, cell in zip(graph.outputs, cells, strict=True):
                if cell is not None:
                    yield value, cell
