"""A node that multiplies by a constant, and what scaling and shifting make of its constants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpgraph import ir
from mpgraph.analysis import TypeFlow
from mpgraph.quant.affine.maps import ChannelAxis, FindConstant
from mpgraph.quant.formats.layout import Array
from mpgraph.quant.placement.constants import Constant
from mpgraph.quant.placement.operands import Operands, gemm_factor, is_padded, operands_of
from mpgraph.schema import integer

__all__ = ["Multiplier", "find_multiplier"]


_CONVOLUTIONS = ("Conv", "ConvTranspose")


@dataclass(frozen=True)
class Multiplier:
    """A Conv, ConvTranspose, Gemm or MatMul with a constant weight.

    Attributes:
        node: The node.
        operands: Which operand is what.
        weight: Its weight.
        bias: Its bias, float64, one number per output channel or one for all; None without one.
        groups: Groups of channels.
        read: The channels of what it reads.
        written: The channels of what it writes.
    """

    node: ir.Node
    operands: Operands
    weight: Constant
    bias: Array | None
    groups: int
    read: ChannelAxis
    written: ChannelAxis

    @property
    def convolves(self) -> bool:
        """Whether it has spatial axes."""
        return self.node.op_type in _CONVOLUTIONS

    @property
    def takes_shift(self) -> bool:
        """Whether what is added to each channel of its input adds the same to all of an output
        channel: there is no padding, which would lack it."""
        if not self.convolves:
            return True
        return self.node.op_type == "Conv" and not is_padded(self.node)

    def weight_factor(self, scale: Array, *, reads: bool) -> Array:
        """What the weight is multiplied with, so that channels are scaled.

        Args:
            scale: One number per channel, or one for all.
            reads: Whether the channels are those of the input; else those of the result.
        """
        if scale.size == 1:
            return scale.reshape(())
        shape, groups = self.weight.shape, self.groups
        if not self.convolves:
            other = self.operands.channels if reads else 1 - self.operands.channels
            return np.expand_dims(scale, other)
        spatial = (1,) * (len(shape) - 2)
        if reads == (self.node.op_type == "ConvTranspose"):
            return scale.reshape(-1, 1, *spatial)
        # Axis 1 runs along the channels of one group, axis 0 along all of the other side.
        rows = np.repeat(scale.reshape(groups, -1), shape[0] // groups, axis=0)
        return rows.reshape(shape[0], shape[1], *spatial)

    def response(self, weight: Array, shift: Array) -> Array:
        """What a shift of the input channels adds to each output channel, float64.

        Args:
            weight: The weight.
            shift: One number per input channel, or one for all.
        """
        products = weight * self.weight_factor(shift, reads=True)
        kept = self.operands.channels
        axes = tuple(axis for axis in range(weight.ndim) if axis != kept)
        return np.asarray(products.sum(axis=axes, dtype=np.float64))

    def factor(self, name: str) -> float:
        """The factor ``alpha`` or ``beta`` of a Gemm."""
        return gemm_factor(self.node, name)

    def fits(self, factor: Array) -> bool:
        """Whether a float16 weight times a factor stays a float16 weight of the same precision.

        The weight is read for it; other dtypes have room for any factor.
        """
        if self.weight.tensor.dtype != ir.DataType.FLOAT16:
            return True
        limits = ir.limits(ir.DataType.FLOAT16)
        products = np.abs(self.weight.tensor.numpy() * factor.astype(np.float32))
        kept = self.operands.channels
        axes = tuple(axis for axis in range(products.ndim) if axis != kept)
        largest = products.max(axis=axes, initial=0.0)
        lowest = 2.0 * limits.smallest_normal
        return bool(np.all((largest == 0.0) | ((largest >= lowest) & (largest <= limits.max))))


def find_multiplier(node: ir.Node, flow: TypeFlow, find: FindConstant) -> Multiplier | None:
    """The multiplier that a node is; None where its weight is not constant, or its bias neither
    constant nor one number per channel."""
    if node.op_type not in (*_CONVOLUTIONS, "Gemm", "MatMul") or len(node.inputs) < 2:
        return None
    weight = find(node.inputs[1])
    if weight is None or weight.tensor.dtype not in ir.FLOATS or weight.tensor.size == 0:
        return None
    rank = len(weight.shape)
    operands = operands_of(node, rank)
    if operands is None or operands.activation != 0 or _is_bound(node):
        return None
    groups = integer(node, "group", 1, {})
    read, written = _channels(node, operands, weight.shape, groups, flow)
    if read is None or written is None:
        return None
    bias = None
    if operands.bias is not None:
        constant = find(node.inputs[operands.bias])
        if constant is None or not _is_per_channel(node, constant.shape, written):
            return None
        bias = constant.tensor.numpy().astype(np.float64).reshape(-1)
    return Multiplier(node, operands, weight, bias, groups, read, written)


def _is_per_channel(node: ir.Node, shape: tuple[int, ...], written: ChannelAxis) -> bool:
    return shape == (written.count,) if node.op_type in _CONVOLUTIONS else written.takes(shape)


def _is_bound(node: ir.Node) -> bool:
    """Whether attributes are parameters of a function."""
    return any(one.is_ref() for one in node.attributes.values())


def _channels(
    node: ir.Node, operands: Operands, shape: tuple[int, ...], groups: int, flow: TypeFlow
) -> tuple[ChannelAxis | None, ChannelAxis | None]:
    rank = len(shape)
    if node.op_type in _CONVOLUTIONS:
        if rank < 3 or shape[0] % groups:
            return None, None
        first, second = shape[0], shape[1] * groups
        counts = (second, first) if node.op_type == "Conv" else (first, second)
        return ChannelAxis(counts[0], rank - 2, rank), ChannelAxis(counts[1], rank - 2, rank)
    if rank != 2 or (node.op_type == "Gemm" and integer(node, "transA", 0, {})):
        return None, None
    columns = operands.channels
    known = 2 if node.op_type == "Gemm" else _rank(node.inputs[0], flow)
    return ChannelAxis(shape[1 - columns], 0, known), ChannelAxis(shape[columns], 0, known)


def _rank(value: ir.Value | None, flow: TypeFlow) -> int | None:
    shape = None if value is None else flow.shape(value)
    return None if shape is None else len(shape)
