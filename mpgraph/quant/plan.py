"""The quantization plan: what each node computes on, and every scale, before anything changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

from mpgraph import ir

__all__ = [
    "Form",
    "Optimize",
    "PlannedActivation",
    "PlannedNode",
    "PlannedWeight",
    "QuantizationPlan",
]

Optimize = Literal["range", "mse", "gptq", "gptq-ordered", "awq"]

Form = Literal["static", "dynamic", "weights", "packed", "rows", "float"]


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
            quantizes its activation when it runs, ``weights`` reads dequantized weights, ``packed``
            becomes MatMulNBits, ``rows`` gathers quantized rows of a table and dequantizes them,
            ``float`` stays as it is.
        counts: Whether it is one of the nodes that the mode is for: those that hold weights or
            multiply. The others only pass quantized numbers on.
        reason: Why, as a phrase.
    """

    key: str
    name: str
    op_type: str
    scope: str
    mode: str
    form: Form
    counts: bool
    reason: str


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


@dataclass(frozen=True)
class QuantizationPlan:
    """All decisions about quantization for one model.

    Attributes:
        nodes: The nodes that a quantizing policy selects.
        activations: The values that are quantized with known scales.
        weights: The constants that are quantized.
        warnings: Sentences for the user.
        places: Every node by its key, for the passes that carry the plan out; no part of its text.
        graphs: Every graph by its path, likewise.
    """

    nodes: tuple[PlannedNode, ...] = ()
    activations: tuple[PlannedActivation, ...] = ()
    weights: tuple[PlannedWeight, ...] = ()
    warnings: tuple[str, ...] = ()
    places: Mapping[str, ir.Node] = field(default_factory=dict, compare=False, repr=False)
    graphs: Mapping[str, ir.Graph] = field(default_factory=dict, compare=False, repr=False)

    @property
    def quantizable(self) -> int:
        """How many nodes the modes are for."""
        return sum(node.counts for node in self.nodes)

    @property
    def quantized(self) -> int:
        """How many of these are quantized."""
        return sum(node.counts and node.form != "float" for node in self.nodes)

    @cached_property
    def left(self) -> Counter[str]:
        """How many of them stay float for each reason, the most frequent first."""
        reasons = Counter(
            node.reason for node in self.nodes if node.counts and node.form == "float"
        )
        return Counter(dict(reasons.most_common()))

    @cached_property
    def by_reader(self) -> Mapping[str, PlannedWeight]:
        """The constants by the operand that reads them."""
        return {weight.reader: weight for weight in self.weights}

    def nodes_of(self, *forms: Form) -> Iterator[tuple[PlannedNode, ir.Node]]:
        """The nodes that are quantized in one of some forms."""
        for planned in self.nodes:
            if planned.form in forms:
                yield planned, self.places[planned.key]

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data."""
        return {
            "nodes": [asdict(one) for one in self.nodes],
            "activations": [asdict(one) for one in self.activations],
            "weights": [asdict(one) for one in self.weights],
            "warnings": list(self.warnings),
        }
