"""Constants of what computes an activation that can take a factor per channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpgraph import ir
from mpgraph.quant.placement.constants import Constant, find_constant
from mpgraph.schema import integer

__all__ = ["Absorber", "find_absorbers"]

_NORMALIZATIONS = frozenset(["LayerNormalization", "RMSNormalization"])


@dataclass(frozen=True, eq=False)
class Absorber:
    """A constant operand that is multiplied by the factors of the result.

    Attributes:
        node: The node that reads it.
        index: Which operand it is.
        constant: The constant.
        divides: Whether it is divided by them instead.
    """

    node: ir.Node
    index: int
    constant: Constant
    divides: bool = False


def find_absorbers(
    value: ir.Value, channels: int, constants: dict[ir.Value, Constant | None]
) -> tuple[Absorber, ...]:
    """The constants to change so that the last axis of a value is multiplied by factors.

    A LayerNormalization takes them into weight and bias, so does what exporters write for one: a
    Mul, or a Div, by a vector, and an Add of another one behind it.

    Args:
        value: The value; who reads it is the caller's concern.
        channels: Extent of its last axis.
        constants: What was found before, filled as the search goes on.

    Returns:
        The constants; none where there is another kind of node, or other readers in between.
    """
    node = value.producer()
    if node is None or node.domain != "":
        return ()
    if node.op_type in _NORMALIZATIONS:
        return _of_normalization(node, channels, constants)
    if node.op_type in ("Mul", "Div", "Add", "Sub"):
        return _of_arithmetic(node, channels, constants)
    return ()


def _of_normalization(
    node: ir.Node, channels: int, constants: dict[ir.Value, Constant | None]
) -> tuple[Absorber, ...]:
    if integer(node, "axis", -1, {}) != -1:
        return ()
    found = []
    for index, operand in enumerate(node.inputs[1:], start=1):
        if operand is None:
            continue
        constant = _vector(operand, channels, constants)
        if constant is None:
            return ()
        found.append(Absorber(node, index, constant))
    return tuple(found)


def _of_arithmetic(
    node: ir.Node, channels: int, constants: dict[ir.Value, Constant | None]
) -> tuple[Absorber, ...]:
    for index in (1, 0):
        constant = _vector(node.inputs[index], channels, constants)
        if constant is None:
            continue
        if node.op_type == "Mul":
            return (Absorber(node, index, constant),)
        if node.op_type == "Div":
            return (Absorber(node, index, constant, divides=index == 1),)
        other = node.inputs[1 - index]
        if other is None or ir.only_reader(other) is None:
            return ()
        before = find_absorbers(other, channels, constants)
        return (*before, Absorber(node, index, constant)) if before else ()
    return ()


def _vector(
    value: ir.Value | None, channels: int, constants: dict[ir.Value, Constant | None]
) -> Constant | None:
    """A float32 constant with one element per channel along its last axis."""
    constant = find_constant(value, constants)
    if constant is None or constant.tensor.dtype != ir.DataType.FLOAT or not constant.shape:
        return None
    return constant if constant.shape[-1] == channels == int(np.prod(constant.shape)) else None
