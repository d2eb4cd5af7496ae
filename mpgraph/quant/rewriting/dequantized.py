"""Nodes that read a stored weight as floats."""

from __future__ import annotations

from mpgraph import ir
from mpgraph.quant.rewriting.weights import StoredWeight
from mpgraph.quant.rewriting.writer import Writer

__all__ = ["read_dequantized"]


def read_dequantized(
    writer: Writer,
    node: ir.Node,
    index: int,
    stored: StoredWeight,
    dtype: ir.DataType,
    *,
    rule: str,
) -> None:
    """Let a node read a stored weight through a DequantizeLinear of its own.

    Args:
        writer: Adds the DequantizeLinear.
        node: The node.
        index: The operand that the weight is.
        stored: The weight.
        dtype: The float dtype that it is dequantized to.
        rule: Why, for the provenance.
    """
    value = node.inputs[index]
    name = "weight" if value is None else value.name
    (read,) = writer.before(
        node,
        "DequantizeLinear",
        [stored.values, stored.scale, stored.zero_point],
        [(f"{name}_dequantized", dtype)],
        stored.attributes,
        rule=rule,
    )
    ir.copy_shape(stored.values, read)
    node.replace_input_with(index, read)
