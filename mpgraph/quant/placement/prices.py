"""What nodes cost in float and in 8 bits, and what conversions between the two cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from mpgraph import ir
from mpgraph.quant.placement.clipped import clipped
from mpgraph.quant.placement.demand import Candidate, Demand
from mpgraph.quant.placement.work import is_image, runs, takes_blocks, window_steps, work_of
from mpgraph.targets.kernel_times import KernelTimes

__all__ = ["Price", "Prices", "prices_of"]

_FLOAT_BYTES, _INTEGER_BYTES = 4, 1
_ACTIVATIONS = frozenset(["Clip", "LeakyRelu", "Relu", "Sigmoid"])
_PICOSECONDS = 1000
"""Of a nanosecond: costs are whole numbers."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a node costs, in the unit of the prices.

    Attributes:
        floats: In float.
        integers: In 8 bits.
    """

    floats: int
    integers: int

    def weighed(self, worth: float) -> Price:
        """The price where a node takes so many times as long in float."""
        return Price(round(self.floats * worth), self.integers)


class Prices(Protocol):
    """What everything costs, in a unit that all of one kind share."""

    def product(self, candidate: Candidate) -> Price | None:
        """A node that multiplies; None where it is quantized whatever that costs."""

    def carrier(self, node: ir.Node, operands: Iterable[int]) -> Price:
        """A node with a kernel for quantized numbers of scales of their own.

        Args:
            node: The node.
            operands: Its operands that are activations.
        """

    def mover(self, node: ir.Node) -> Price:
        """A node that hands numbers on as they are."""

    def result(self, value: ir.Value) -> Price:
        """A result that a kernel may write as floats or as quantized numbers."""

    def conversion(self, value: ir.Value) -> int:
        """One QuantizeLinear or DequantizeLinear of a value."""


def prices_of(demand: Demand, counts: Mapping[ir.Value, int], overhead: int) -> Prices:
    """The prices of the target.

    Args:
        demand: What decides.
        counts: How many elements each value holds.
        overhead: Cost of one more kernel on the target, in bytes, where no times are known.
    """
    times = demand.rules.times
    return _Traffic(counts, overhead) if times is None else _Times(demand, counts, times)


@dataclass(frozen=True)
class _Traffic:
    """Bytes of memory traffic."""

    counts: Mapping[ir.Value, int]
    overhead: int

    def product(self, candidate: Candidate) -> Price | None:
        return None

    def carrier(self, node: ir.Node, operands: Iterable[int]) -> Price:
        return self._moved([*(node.inputs[index] for index in operands), *node.outputs])

    def mover(self, node: ir.Node) -> Price:
        return self._moved([node.inputs[0], *node.outputs])

    def result(self, value: ir.Value) -> Price:
        return self._moved([value])

    def conversion(self, value: ir.Value) -> int:
        return self.counts.get(value, 1) * (_FLOAT_BYTES + _INTEGER_BYTES) + self.overhead

    def _moved(self, values: Iterable[ir.Value | None]) -> Price:
        moved = sum(self.counts.get(value, 1) for value in values if value is not None)
        return Price(moved * _FLOAT_BYTES, moved * _INTEGER_BYTES)


@dataclass(frozen=True)
class _Times:
    """Picoseconds, by measured constants."""

    demand: Demand
    counts: Mapping[ir.Value, int]
    times: KernelTimes

    def product(self, candidate: Candidate) -> Price | None:
        if candidate.weight is None or self.demand.forces(candidate.node):
            return None
        if self.demand.rules.quantizes_all:
            return None
        kind, work = work_of(candidate, candidate.weight.shape, self.counts)
        floats, integers = {
            "matrix": self.times.matrix,
            "image": self.times.image,
            "depthwise": self.times.depthwise,
            "other": self.times.other,
        }[kind]
        around = self._layouts(candidate) if kind in ("depthwise", "image") else 0
        return _price(floats.of(work) + around, integers.of(work))

    def carrier(self, node: ir.Node, operands: Iterable[int]) -> Price:
        constants = self.times.elements.get(node.op_type)
        if constants is None:
            return Price(0, 0)
        count = self._count(clipped(node))
        floats, integers = (
            count * window_steps(node) * element
            + runs(node, self.demand.flow, count, channels_last=last) * run
            for element, run, last in zip(constants, self.times.run, (False, True), strict=True)
        )
        return _price(floats, integers)

    def mover(self, node: ir.Node) -> Price:
        if node.op_type in self.times.elements:
            return self.carrier(node, (0,))
        if node.op_type == "Resize":
            return Price(0, 0)
        return self._moved([node.inputs[0], *node.outputs])

    def result(self, value: ir.Value) -> Price:
        return self._moved([value])

    def conversion(self, value: ir.Value) -> int:
        times, count = self.times, self._count(value)
        taken = times.kernel + count * times.conversion
        if is_image(value, self.demand.flow):
            taken += times.kernel + count * times.layout[1]
        # onnxruntime moves a conversion on either side of a pooling across it.
        ends = [value.producer(), *(use.node for use in value.uses())]
        poolings = [_pooling(one) for one in ends if one is not None]
        taken += sum(self._turned(one) for one in dict.fromkeys(poolings) if one is not None)
        return round(_PICOSECONDS * taken)

    def _turned(self, node: ir.Node) -> float:
        return self._count(node.outputs[0]) * window_steps(node) * self.times.turned

    def _layouts(self, candidate: Candidate) -> float:
        """What a Conv in float takes to move images between layouts."""
        node, moved = candidate.node, 0.0
        read, given = node.inputs[candidate.operands.activation], clipped(node)
        if read is not None and not takes_blocks(read.producer()):
            moved += self._layout(read)
        if not all(takes_blocks(use.node) for use in given.uses()):
            moved += self._layout(given)
        return moved

    def _layout(self, value: ir.Value) -> float:
        return self.times.kernel + self._count(value) * self.times.layout[0]

    def _moved(self, values: Iterable[ir.Value | None]) -> Price:
        moved = sum(self._count(value) for value in values if value is not None)
        each = moved * self.times.moved_byte
        return _price(each * _FLOAT_BYTES, each * _INTEGER_BYTES)

    def _count(self, value: ir.Value) -> int:
        return self.counts.get(value, 1)


def _price(floats: float, integers: float) -> Price:
    return Price(round(_PICOSECONDS * floats), round(_PICOSECONDS * integers))


def _pooling(node: ir.Node) -> ir.Node | None:
    """The pooling that a node is, or that alone reads its activation."""
    reader: ir.Node | None = node
    while reader is not None and reader.op_type in _ACTIVATIONS:
        reader = ir.only_reader(reader.outputs[0])
    return reader if reader is not None and reader.op_type == "MaxPool" else None
