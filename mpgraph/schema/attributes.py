"""Reading the attributes of a node, also where they refer to one of the enclosing function."""

from __future__ import annotations

from collections.abc import Mapping

from mpgraph import ir

__all__ = ["Bindings", "dtype_attribute", "integer", "resolve", "subgraphs"]

Bindings = Mapping[str, ir.Attr]
"""The attributes that a call gives to a function, by name; empty outside functions."""


def resolve(node: ir.Node, name: str, bindings: Bindings) -> ir.Attr | None:
    """The attribute ``name``, followed through a reference; None where it is absent or unbound."""
    attribute = node.attributes.get(name)
    if attribute is None or not attribute.is_ref():
        return attribute
    return bindings.get(attribute.ref_attr_name or "")


def integer(node: ir.Node, name: str, default: int, bindings: Bindings) -> int:
    """An integer attribute, or ``default``."""
    attribute = resolve(node, name, bindings)
    return default if attribute is None else attribute.as_int()


def dtype_attribute(node: ir.Node, name: str, bindings: Bindings) -> ir.DataType | None:
    """A dtype given as an integer attribute; None where it is absent or names no dtype."""
    value = integer(node, name, 0, bindings)
    return ir.DataType(value) if value else None


def subgraphs(node: ir.Node) -> dict[str, ir.Graph]:
    """The graph attributes of a node, by name."""
    return {
        name: attribute.as_graph()
        for name, attribute in node.attributes.items()
        if attribute.type == ir.AttributeType.GRAPH and not attribute.is_ref()
    }
