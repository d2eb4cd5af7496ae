"""The attributes of a node as a short text."""

from __future__ import annotations

import hashlib

from mpgraph import ir

__all__ = ["attribute_text"]

_GRAPHS = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)
_PLAIN = (
    ir.AttributeType.INT,
    ir.AttributeType.INTS,
    ir.AttributeType.FLOAT,
    ir.AttributeType.FLOATS,
    ir.AttributeType.STRING,
    ir.AttributeType.STRINGS,
)
_LONGEST = 160


def attribute_text(node: ir.Node) -> str:
    """The attributes by name, such as ``axis=1, keepdims=0``; graphs are left out.

    Tensors are told by dtype, shape and, where they are small, a digest; so is the rest of a text
    that is too long. What a Constant holds is a weight, not an attribute.
    """
    if not node.attributes or (node.domain, node.op_type) == ("", "Constant"):
        return ""
    found = (
        f"{name}={_value(attribute)}"
        for name, attribute in sorted(node.attributes.items())
        if attribute.type not in _GRAPHS
    )
    text = ", ".join(found)
    if len(text) <= _LONGEST:
        return text
    digest = hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()
    return f"{text[:_LONGEST]}... #{digest[:16]}"


def _value(attribute: ir.Attr) -> str:
    if attribute.type not in _PLAIN or attribute.is_ref():
        return ir.attribute_key(attribute)
    value = attribute.value
    return repr(list(value) if isinstance(value, tuple) else value)
