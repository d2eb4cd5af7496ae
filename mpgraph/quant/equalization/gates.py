"""A value times a clipped, shifted copy of itself: what exporters write for HardSwish."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mpgraph import ir
from mpgraph.quant.affine.maps import FindConstant
from mpgraph.quant.equalization.statistics import Channels
from mpgraph.quant.formats.layout import Array
from mpgraph.quant.placement.constants import Constant

__all__ = ["Gate", "find_gates"]


@dataclass(frozen=True, eq=False)
class Gate:
    """x * Clip(x + shift).

    Attributes:
        value: x.
        add: The node that shifts it; only the Clip reads its result.
        product: The node that multiplies; it alone reads the result of the Clip.
        clip: The node that clips.
        shift: The constant, one number.
        top: The upper bound of the Clip, above its lower one, which is 0.
    """

    value: ir.Value
    add: ir.Node
    product: ir.Node
    clip: ir.Node
    shift: Constant
    top: float

    def extent(self, channels: Channels) -> Array:
        """How far each channel of x reaches, without what lies so low that the product is zero."""
        lowest = -self.shift.number
        return np.asarray(np.maximum(channels.high, 0.0) - np.clip(channels.low, lowest, 0.0))

    def slope(self, channels: Channels) -> Array:
        """How much of an error of x each channel of the product has at most."""
        shift = self.shift.number
        return np.minimum(self.top, shift + 2.0 * np.maximum(channels.high, 0.0))


def find_gates(nodes: Iterable[ir.Node], find: FindConstant) -> list[Gate]:
    """All gates among some nodes."""
    found = (_gate(node, find) for node in nodes if node.op_type == "Mul" and node.domain == "")
    return [gate for gate in found if gate is not None]


def _gate(product: ir.Node, find: FindConstant) -> Gate | None:
    for value, clipped in (product.inputs[:2], product.inputs[1::-1]):
        clip = _sole(clipped, "Clip")
        bounds = [] if clip is None else _bounds(clip, find)
        if value is None or clip is None or len(bounds) != 2 or not 0 == bounds[0] < bounds[1]:
            continue
        add = _sole(clip.inputs[0], "Add")
        if add is None:
            continue
        for operand, other in (add.inputs, add.inputs[::-1]):
            shift = find(other)
            if operand is value and shift is not None and shift.tensor.size == 1:
                return Gate(value, add, product, clip, shift, bounds[1])
    return None


def _bounds(clip: ir.Node, find: FindConstant) -> list[float]:
    """The bounds of a Clip that are constants."""
    found = [find(value) for value in clip.inputs[1:]]
    return [one.number for one in found if one is not None]


def _sole(value: ir.Value | None, op_type: str) -> ir.Node | None:
    """The node of an operator that computes a value for one reader alone."""
    node = None if value is None else value.producer()
    if value is None or node is None or node.op_type != op_type or node.domain != "":
        return None
    return None if ir.only_reader(value) is None else node
