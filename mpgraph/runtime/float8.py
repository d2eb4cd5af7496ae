"""What is special about float8 in emulation: the few operators that give or take it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mpgraph import ir

__all__ = ["FLOAT8", "float8_operands", "is_kept", "saturates"]

FLOAT8 = frozenset(
    {
        ir.DataType.FLOAT8E4M3FN,
        ir.DataType.FLOAT8E4M3FNUZ,
        ir.DataType.FLOAT8E5M2,
        ir.DataType.FLOAT8E5M2FNUZ,
    }
)

# Operands that stay float8, because their dtype says what the operator does.
_OPERANDS: Mapping[str, tuple[int, ...]] = {"QuantizeLinear": (2,), "DequantizeLinear": (0, 2)}


def float8_operands(node: ir.Node) -> Iterator[tuple[int, ir.Value]]:
    """The operands of a node, with their index, that must be float8 if they are in the model."""
    for index in _OPERANDS.get(node.op_type, ()):
        value = node.inputs[index] if index < len(node.inputs) else None
        if value is not None:
            yield index, value


def is_kept(constant: ir.Value) -> bool:
    """Whether a constant is float8 and only operators read it that want it so."""
    if constant.dtype not in FLOAT8 or constant.is_graph_output():
        return False
    return all(index in _OPERANDS.get(node.op_type, ()) for node, index in constant.uses())


def saturates(node: ir.Node) -> bool:
    """Whether a cast to float8 clamps what is out of range, which it does unless told not to."""
    if node.op_type not in ("Cast", "CastLike"):
        return False
    attribute = node.attributes.get("saturate")
    return attribute is None or bool(attribute.as_int())
