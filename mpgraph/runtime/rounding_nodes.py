"""The nodes that emulation inserts: casts, and the Identity that keeps two casts apart."""

from __future__ import annotations

from collections.abc import Sequence

from mpgraph import ir
from mpgraph.errors import VerificationError
from mpgraph.runtime.float8 import FLOAT8

__all__ = ["MARK", "RoundingNodes", "producer"]

MARK = "mpgraph.round."
"""Prefix of the names of the nodes that round: ``<MARK>down.<value>``, ``<MARK>hold.<value>``."""


class RoundingNodes:
    """Makes nodes with names that are unique in one model; they are in no graph yet."""

    def __init__(self, namer: ir.Namer) -> None:
        self._namer = namer

    def cast(
        self, source: ir.Value, to: ir.DataType, node: str, name: str, *, saturate: bool = False
    ) -> ir.Value:
        """The value ``name``: ``source`` cast to ``to``, clamped to float8 if ``saturate``."""
        attributes = [ir.AttrInt64("to", int(to))]
        if to in FLOAT8:
            attributes.append(ir.AttrInt64("saturate", int(saturate)))
        return self._node("Cast", source, attributes, node, name, to)

    def identity(self, source: ir.Value, node: str, name: str, dtype: ir.DataType) -> ir.Value:
        """The value ``name``: ``source`` as it is."""
        return self._node("Identity", source, (), node, name, dtype)

    def _node(
        self,
        op_type: str,
        source: ir.Value,
        attributes: Sequence[ir.Attr],
        node: str,
        name: str,
        dtype: ir.DataType,
    ) -> ir.Value:
        output = ir.Value(
            name=self._namer.value_name(name), type=ir.TensorType(dtype), shape=source.shape
        )
        ir.Node(
            "",
            op_type,
            [source],
            attributes,
            outputs=[output],
            name=self._namer.node_name(f"{MARK}{node}"),
        )
        return output


def producer(value: ir.Value) -> ir.Node:
    """The node that computes a value.

    Raises:
        VerificationError: It is an input or a constant.
    """
    node = value.producer()
    if node is None:
        raise VerificationError(value.name or "value", "has no producer")
    return node
