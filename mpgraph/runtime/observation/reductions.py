"""Nodes that reduce a value to its extremes and some of its elements where it is computed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mpgraph import ir

__all__ = ["MIN_OPSET_OF_PARTS", "SUMMARY", "Reductions"]

SUMMARY = 3
"""Numbers per value: minimum, maximum, and a sum that is finite unless an element is not."""

MIN_OPSET_OF_PARTS = 10
"""Slice takes a step from here on."""

_FLOAT, _INT64 = ir.DataType.FLOAT, ir.DataType.INT64


class Reductions:
    """Adds reductions to a graph, each right behind what it reduces, so that this can be freed."""

    def __init__(self, graph: ir.Graph, namer: ir.Namer, part: int) -> None:
        self._graph = graph
        self._namer = namer
        self._part = part
        self._constants: dict[int, ir.Value] = {}
        self._summaries: list[ir.Value] = []
        self._counts: list[ir.Value] = []

    def add(self, value: ir.Value, dtype: ir.DataType) -> ir.Value | None:
        """Reduce a float value of the graph; returns the elements kept, None if none are."""
        after = value.producer()
        if after is None:
            raise ValueError(f"{value.name!r} is not computed in the graph")
        nodes: list[ir.Node] = []
        if dtype != _FLOAT:
            value = self._op(nodes, "Cast", [value], {"to": int(_FLOAT)})
        flat = self._op(nodes, "Reshape", [value, self._constant(-1)])
        for op_type in ("ReduceMin", "ReduceMax", "ReduceSum"):
            self._summaries.append(self._op(nodes, op_type, [flat], {"keepdims": 1}))
        count = self._op(nodes, "Shape", [flat])
        self._counts.append(count)
        part = self._sliced(nodes, flat, count) if self._part else None
        self._graph.insert_after(after, nodes)
        return part

    def join(self) -> tuple[ir.Value, ir.Value]:
        """The numbers of all values, float32[SUMMARY * n], and their sizes, int64[n]."""
        nodes: list[ir.Node] = []
        summaries = self._op(nodes, "Concat", self._summaries, {"axis": 0})
        counts = self._op(nodes, "Concat", self._counts, {"axis": 0})
        self._graph.extend(nodes)
        summaries.type, counts.type = ir.TensorType(_FLOAT), ir.TensorType(_INT64)
        return summaries, counts

    def _sliced(self, nodes: list[ir.Node], flat: ir.Value, count: ir.Value) -> ir.Value:
        one, two = self._constant(1), self._constant(2)
        padded = self._op(nodes, "Add", [count, self._constant(self._part - 1)])
        step = self._op(nodes, "Div", [padded, self._constant(self._part)])
        even = self._op(nodes, "Sub", [one, self._op(nodes, "Mod", [step, two])])
        odd = self._op(nodes, "Add", [step, even])
        zero = self._constant(0)
        part = self._op(nodes, "Slice", [flat, zero, count, zero, odd])
        part.type = ir.TensorType(_FLOAT)
        return part

    def _op(
        self,
        nodes: list[ir.Node],
        op_type: str,
        inputs: Sequence[ir.Value],
        attributes: dict[str, int] | None = None,
    ) -> ir.Value:
        base = f"mpgraph.{op_type.lower()}"
        output = ir.Value(name=self._namer.value_name(base))
        given = [ir.AttrInt64(name, value) for name, value in (attributes or {}).items()]
        node = ir.Node("", op_type, inputs, given, outputs=[output])
        node.name = self._namer.node_name(base)
        nodes.append(node)
        return output

    def _constant(self, number: int) -> ir.Value:
        if number not in self._constants:
            name = self._namer.value_name("mpgraph.number")
            value = ir.Value(
                name=name,
                type=ir.TensorType(_INT64),
                shape=ir.Shape([1]),
                const_value=ir.tensor(np.array([number], np.int64), name=name),
            )
            self._graph.register_initializer(value)
            self._constants[number] = value
        return self._constants[number]
