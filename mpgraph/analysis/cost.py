"""What a choice of dtypes costs: the bytes of memory traffic of nodes and casts.

A node moves its float operands and results in the dtype of their cells. A cast reads its operand,
writes its result and adds the target's overhead of one more kernel, once per (value, dtype) however
many consumers share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mpgraph import ir
from mpgraph.analysis.cells import CellGraph

__all__ = ["Edge", "Traffic", "measure_traffic", "modelled_bytes"]


class Edge(NamedTuple):
    """A value that can be cast, with the cells it runs between.

    Attributes:
        elements: How many elements it holds.
        producer: The cell that gives it its dtype.
        consumers: The cells that take it, each once.
    """

    elements: int
    producer: int
    consumers: tuple[int, ...]


@dataclass(frozen=True)
class Traffic:
    """The quantities that the cost of a labelling is made of.

    Attributes:
        elements: Per cell, the number of elements that its nodes read and write.
        edges: Every value between cells.
        kernel_overhead: Cost of one cast beside its own traffic, in bytes.
    """

    elements: tuple[int, ...]
    edges: tuple[Edge, ...] = field(repr=False)
    kernel_overhead: int

    def node_cost(self, cell: int, dtype: ir.DataType) -> int:
        """The bytes that the nodes of ``cell`` move when it has ``dtype``."""
        return self.elements[cell] * dtype.bitwidth // 8

    def cast_cost(self, elements: int, source: ir.DataType, target: ir.DataType) -> int:
        """The cost of one cast of a value of ``elements`` elements, in bytes."""
        return elements * (source.bitwidth + target.bitwidth) // 8 + self.kernel_overhead


def measure_traffic(
    graph: CellGraph, counts: Mapping[ir.Value, int], kernel_overhead: int
) -> Traffic:
    """Collect the element counts of all cells and of the values between them.

    Args:
        graph: The cells.
        counts: The number of elements of each value.
        kernel_overhead: Cost of one more kernel on the target, in bytes.
    """
    elements = [0] * len(graph.cells)
    consumers: dict[ir.Value, set[int]] = {}
    for value, cell in graph.uses():
        elements[cell] += counts.get(value, 1)
        if value in graph.results:
            consumers.setdefault(value, set()).add(cell)
    casts = {cast: operand for operand, cast in _existing_casts(graph)}
    for value, cell in graph.results.items():
        if value not in casts:
            elements[cell] += counts.get(value, 1)
    for value, operand in casts.items():
        consumers.setdefault(operand, set()).add(graph.results[value])
    edges = tuple(
        Edge(counts.get(value, 1), graph.results[value], tuple(sorted(cells)))
        for value, cells in consumers.items()
    )
    return Traffic(tuple(elements), edges, kernel_overhead)


def _existing_casts(graph: CellGraph) -> Iterable[tuple[ir.Value, ir.Value]]:
    """Operand and result of each Cast between floats in the model: free where both sides agree.

    What such a Cast writes is part of its cost as a cast; counting it as a node's traffic as well
    would make it look cheaper to move the Cast than to leave it where it is.
    """
    for node in graph.operands:
        if node.op_type != "Cast" or node.domain != "" or node.inputs[0] is None:
            continue
        operand, result = node.inputs[0], node.outputs[0]
        if operand in graph.results and result in graph.results:
            yield operand, result


def modelled_bytes(traffic: Traffic, labels: Sequence[ir.DataType]) -> int:
    """The cost in bytes of giving every cell the dtype that ``labels`` holds for it."""
    total = sum(traffic.node_cost(cell, dtype) for cell, dtype in enumerate(labels))
    for edge in traffic.edges:
        source = labels[edge.producer]
        for target in {labels[cell] for cell in edge.consumers}:
            if target != source:
                total += traffic.cast_cost(edge.elements, source, target)
    return total
