"""Nodes that scale and shift the channels of a value by constants, as numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mpgraph import ir
from mpgraph.quant.formats.layout import Array
from mpgraph.quant.placement.constants import Constant
from mpgraph.schema import integer

__all__ = ["Affine", "ChannelAxis", "FindConstant", "affine_of"]

FindConstant = Callable[[ir.Value | None], Constant | None]

_EPSILON = 1e-5
"""The epsilon of a BatchNormalization that names none."""


@dataclass(frozen=True)
class Affine:
    """x * scale + shift.

    Attributes:
        scale: float64, one number per channel, or one for all.
        shift: The same.
    """

    scale: Array
    shift: Array

    @property
    def scales(self) -> bool:
        """Whether it multiplies at all."""
        return bool(np.any(self.scale != 1.0))

    @property
    def shifts(self) -> bool:
        """Whether it adds at all."""
        return bool(np.any(self.shift != 0.0))

    def then(self, later: Affine) -> Affine:
        """This map and then another one."""
        return Affine(self.scale * later.scale, self.shift * later.scale + later.shift)


@dataclass(frozen=True)
class ChannelAxis:
    """Where the channels of a value run.

    Attributes:
        count: How many there are.
        behind: How many axes follow that of the channels.
        rank: How many axes the value has; None where that is not known.
    """

    count: int
    behind: int
    rank: int | None

    def takes(self, shape: tuple[int, ...]) -> bool:
        """Whether a constant of some shape holds one number per channel, or one for all, and leaves
        the shape of the value as it is."""
        if len(shape) > (1 if self.rank is None else self.rank):
            return False
        at = len(shape) - 1 - self.behind
        return all(
            extent == 1 or (i == at and extent == self.count) for i, extent in enumerate(shape)
        )


def affine_of(
    node: ir.Node, value: ir.Value, channels: ChannelAxis, find: FindConstant
) -> Affine | None:
    """What a node does to the channels of a value that it reads; None if it is more than that."""
    if node.domain != "" or sum(one is value for one in node.inputs) != 1:
        return None
    match node.op_type:
        case "Identity":
            return Affine(np.ones(1), np.zeros(1))
        case "BatchNormalization":
            return _batch_norm(node, value, channels, find)
        case "Add" | "Sub" | "Mul" | "Div":
            return _arithmetic(node, value, channels, find)
    return None


def _batch_norm(
    node: ir.Node, value: ir.Value, channels: ChannelAxis, find: FindConstant
) -> Affine | None:
    """gamma * (x - mean) / sqrt(variance + epsilon) + beta, with the statistics of training."""
    trains = (
        integer(node, "training_mode", 0, {}) or sum(bool(one.name) for one in node.outputs) > 1
    )
    if node.inputs[0] is not value or trains or not integer(node, "spatial", 1, {}):
        return None
    if channels.rank is None or channels.rank - 1 - channels.behind != 1:
        return None
    found = [find(one) for one in node.inputs[1:]]
    arrays = [_numbers(one) for one in found if one is not None and one.shape == (channels.count,)]
    if len(arrays) != 4:
        return None
    gamma, beta, mean, variance = arrays
    attribute = node.attributes.get("epsilon")
    squares = variance + (_EPSILON if attribute is None else attribute.as_float())
    if not np.all(squares > 0.0):
        return None
    scale = gamma / np.sqrt(squares)
    return _finite(scale, beta - mean * scale)


def _arithmetic(
    node: ir.Node, value: ir.Value, channels: ChannelAxis, find: FindConstant
) -> Affine | None:
    first = node.inputs[0] is value
    constant = find(node.inputs[1 if first else 0])
    if constant is None or not channels.takes(constant.shape):
        return None
    numbers, ones = _numbers(constant), np.ones(1)
    match node.op_type:
        case "Mul":
            return _finite(numbers, np.zeros(1))
        case "Add":
            return _finite(ones, numbers)
        case "Sub":
            return _finite(ones, -numbers) if first else _finite(-ones, numbers)
    if not first or np.any(numbers == 0.0):
        return None
    return _finite(1.0 / numbers, np.zeros(1))


def _numbers(constant: Constant) -> Array:
    return constant.tensor.numpy().astype(np.float64).reshape(-1)


def _finite(scale: Array, shift: Array) -> Affine | None:
    finite = np.all(np.isfinite(scale)) and np.all(np.isfinite(shift))
    return Affine(scale, shift) if finite else None
