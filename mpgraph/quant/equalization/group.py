"""Values of a graph that are scaled together, channel by channel."""

from __future__ import annotations

from dataclasses import dataclass, field

from mpgraph import ir
from mpgraph.quant.affine import Multiplier
from mpgraph.quant.equalization.gates import Gate
from mpgraph.quant.placement.constants import Constant

__all__ = ["Group", "Reader", "Shift"]


@dataclass(frozen=True, eq=False)
class Reader:
    """A Conv that reads a value of a group.

    Attributes:
        multiplier: The Conv.
        value: What it reads.
    """

    multiplier: Multiplier
    value: ir.Value


@dataclass(frozen=True, eq=False)
class Shift:
    """A constant that an Add or Sub adds to a value of a group, or subtracts.

    Attributes:
        node: The Add or Sub.
        index: Which of its operands the constant is.
        constant: The constant: one number, or one per channel.
    """

    node: ir.Node
    index: int
    constant: Constant


@dataclass(eq=False)
class Group:
    """Values that are scaled by the same factor per channel.

    Attributes:
        channels: How many channels they have.
        values: The values, with the factor of each beside the common one: what a Mul by a number
            did before it was left out.
        sources: The nodes that multiply whose results they are.
        readers: The nodes that multiply and read them.
        gates: Gates whose shift needs the value as it was.
        shifts: Operands of Add and Sub, one number or one per channel: they are scaled as well.
        dropped: Multiplications and divisions by a number that the readers take over.
    """

    channels: int
    values: dict[ir.Value, float] = field(default_factory=dict)
    sources: dict[ir.Node, Multiplier] = field(default_factory=dict)
    readers: list[Reader] = field(default_factory=list)
    gates: list[Gate] = field(default_factory=list)
    shifts: list[Shift] = field(default_factory=list)
    dropped: list[tuple[ir.Node, ir.Value]] = field(default_factory=list)
