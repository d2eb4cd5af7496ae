"""What a quantization plan says of one node, one activation and one weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mpgraph.policy.modes import Granularity
from mpgraph.quant.formats import Format

__all__ = [
    "LOSES_TIME",
    "Form",
    "Optimize",
    "PlannedActivation",
    "PlannedNode",
    "PlannedWeight",
]

LOSES_TIME = "the conversions around it would take longer than it saves"
"""Why a node stays float that quantization would only make smaller."""

Optimize = Literal["range", "mse", "gptq", "gptq-ordered", "awq"]

Form = Literal[
    "static",
    "dynamic",
    "dynamic_rows",
    "recurrent",
    "weights",
    "packed",
    "rows",
    "given",
    "float",
]


@dataclass(frozen=True, slots=True)
class PlannedNode:
    """What becomes of one node that a quantizing policy selects.

    Attributes:
        key: Its place, such as ``main#12``.
        name: Its own name; may be empty.
        op_type: Its operator.
        scope: Its module path.
        mode: The name of its quantization mode.
        form: ``static`` computes on operands that are quantized with known scales, ``dynamic``
            quantizes its activation when it runs, ``dynamic_rows`` each row of it by a range of its
            own, ``recurrent`` does so at every step of an LSTM, ``weights`` reads dequantized
            weights, ``packed`` becomes MatMulNBits, ``rows`` gathers quantized rows of a table and
            dequantizes them, ``given`` is quantized in the model as it was given, ``float`` stays
            as it is.
        counts: Whether it is one of the nodes that the mode is for: those that hold weights or
            multiply. The others only pass quantized numbers on.
        reason: Why, as a phrase.
        fallback: The name of the mode that is taken in its place; empty where it is taken itself.
    """

    key: str
    name: str
    op_type: str
    scope: str
    mode: str
    form: Form
    counts: bool
    reason: str
    fallback: str = ""


@dataclass(frozen=True, slots=True)
class PlannedActivation:
    """A value that is also there as quantized numbers.

    Attributes:
        graph: The path of its graph.
        value: Its name.
        dtype: The dtype of the quantized numbers.
        scale: Their scale.
        zero_point: Their zero point.
        readers: Places that read it through a DequantizeLinear of their own: ``main#12:0`` is
            operand 0 of a node, ``main:0`` output 0 of a graph.
    """

    graph: str
    value: str
    dtype: str
    scale: float
    zero_point: int
    readers: tuple[str, ...]

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest number that can be held."""
        format = Format(self.dtype, symmetric=True)
        low, high = (
            (end - self.zero_point) * self.scale for end in (format.lowest, format.highest)
        )
        return float(low), float(high)


@dataclass(frozen=True, slots=True)
class PlannedWeight:
    """A constant operand that is stored as quantized numbers.

    Attributes:
        reader: The operand, such as ``main#12:1``.
        constant: The name of the constant that the model holds.
        dtype: The dtype of the quantized numbers.
        bits: Bits of it that are used.
        symmetric: Whether the zero point is fixed.
        narrow: Whether the lowest integer is left unused.
        axis: The axis of scales per axis or block; None for one scale.
        block_size: Elements per scale along the axis; None for one scale per index.
        optimize: How scales and numbers are chosen: by the ``range``, by the least squared error of
            the weight, ``mse``, or with the activations in view, by ``gptq``, ``gptq-ordered`` (the
            channels with the largest activations first) or ``awq``.
    """

    reader: str
    constant: str
    dtype: str
    bits: int
    symmetric: bool
    narrow: bool
    axis: int | None
    block_size: int | None
    optimize: Optimize = "range"

    @property
    def granularity(self) -> Granularity:
        """What has a scale of its own: the ``tensor``, each index of the axis, or each block."""
        if self.axis is None:
            return "tensor"
        return "axis" if self.block_size is None else "block"
