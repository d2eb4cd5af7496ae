"""Parts of a region that hand on quantized numbers which nothing multiplies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from networkx.utils import UnionFind

from mpgraph import ir
from mpgraph.analysis.cost import Edge

__all__ = ["without_idle"]


def without_idle(
    labels: Sequence[ir.DataType],
    edges: Iterable[Edge],
    quantized: ir.DataType,
    multiplying: Collection[int],
) -> list[ir.DataType]:
    """The labels, with cells made float that no node that multiplies takes from or must give to.

    Rounding there would save bytes of a Transpose at most, and cost accuracy.

    Args:
        labels: The dtype of each cell.
        edges: The values between cells.
        quantized: The label of cells that are held as quantized numbers.
        multiplying: The cells of the nodes that multiply.
    """
    parts: UnionFind[int] = UnionFind(range(len(labels)))
    busy = set()
    for edge in edges:
        ends = [cell for cell in {edge.producer, *edge.consumers} if labels[cell] == quantized]
        inside = [cell for cell in ends if cell not in multiplying]
        if inside:
            parts.union(*inside)
            if len(inside) < len(ends):
                busy.add(inside[0])
    roots = {parts[cell] for cell in busy}
    return [
        ir.DataType.FLOAT
        if label == quantized and cell not in multiplying and parts[cell] not in roots
        else label
        for cell, label in enumerate(labels)
    ]
