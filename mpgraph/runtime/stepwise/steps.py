"""Writes the steps of one operator in front of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mpgraph import ir

__all__ = ["Steps"]

_FLOAT16 = ir.DataType.FLOAT16


class Steps:
    """Inserts float16 nodes before ``node``, or appends them to a graph of their own.

    Args:
        node: The operator that is written out; new names begin with that of its first output.
        namer: Gives the names.
        graph: Where to append; None to insert before ``node``.
    """

    def __init__(self, node: ir.Node, namer: ir.Namer, graph: ir.Graph | None = None) -> None:
        self.node = node
        self._namer = namer
        self._graph = graph
        self._base = f"{node.outputs[0].name}.step"

    def inside(self, graph: ir.Graph) -> Steps:
        """Steps of the same operator that are appended to ``graph``."""
        return Steps(self.node, self._namer, graph)

    def value(self, dtype: ir.DataType, shape: ir.Shape | None = None) -> ir.Value:
        """A new value that no node computes: an input of a body."""
        name = self._namer.value_name(self._base)
        return ir.Value(name=name, type=ir.TensorType(dtype), shape=shape)

    def op(
        self,
        op_type: str,
        *inputs: ir.Value | None,
        dtype: ir.DataType = _FLOAT16,
        attributes: Mapping[str, ir.Attr] | None = None,
        **numbers: int | list[int],
    ) -> ir.Value:
        """The result of a new node.

        Args:
            op_type: An operator of the default domain.
            inputs: Its operands.
            dtype: The dtype of the result.
            attributes: Attributes as they are.
            numbers: More attributes, integers or lists of them.
        """
        attrs = list((attributes or {}).values())
        for name, number in numbers.items():
            attrs.append(
                ir.AttrInt64s(name, number)
                if isinstance(number, list)
                else ir.AttrInt64(name, number)
            )
        output = self.value(dtype)
        name = self._namer.node_name(self._base)
        made = ir.Node("", op_type, inputs, attrs, outputs=[output], name=name)
        if self._graph is not None:
            self._graph.append(made)
        elif self.node.graph is not None:
            self.node.graph.insert_before(self.node, made)
        return output

    def same(self, *inputs: ir.Value | None) -> ir.Value:
        """The operator itself on other operands."""
        return self.op(self.node.op_type, *inputs, attributes=self.node.attributes)

    def array(self, array: np.ndarray[Any, Any]) -> ir.Value:
        """A constant."""
        tensor = ir.tensor(array)
        attributes = {"value": ir.AttrTensor("value", tensor)}
        return self.op("Constant", dtype=tensor.dtype, attributes=attributes)

    def number(self, number: float) -> ir.Value:
        """A scalar of float16, rounded half to even."""
        return self.array(np.array(number, np.float16))

    def integers(self, numbers: Sequence[int]) -> ir.Value:
        """A list of int64."""
        return self.array(np.array(numbers, np.int64))

    def shape_of(self, value: ir.Value) -> ir.Value:
        """The extents of a value, an int64 list."""
        return self.op("Shape", value, dtype=ir.DataType.INT64)

    def reshaped(self, value: ir.Value, extents: Sequence[int] | ir.Value) -> ir.Value:
        """The elements of a value in another shape; 0 copies an extent, -1 is the rest."""
        shape = extents if isinstance(extents, ir.Value) else self.integers(extents)
        return self.op("Reshape", value, shape)
