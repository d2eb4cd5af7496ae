"""What an audit knows about a model: nodes, values, weights, casts, quantization and layers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = [
    "CastEffect",
    "CastFact",
    "LayerFact",
    "NodeFact",
    "QuantizationFact",
    "Range",
    "Totals",
    "ValueFact",
    "ValueKind",
    "WeightFact",
]

ValueKind = Literal["input", "output", "initializer", "intermediate"]
CastEffect = Literal["widening", "narrowing", "none", "lossy pair", "removable pair"]
Extents = tuple[int | str | None, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """The magnitudes that a value or weight takes.

    Attributes:
        minimum: The least finite element.
        maximum: The greatest finite element.
        smallest: The smallest nonzero magnitude; infinity where all elements are zero.
        nonfinite: How many elements are NaN or infinite.
        octaves: How many nonzero elements have a magnitude in [2^e, 2^(e+1)), by exponent e.
        zeros: How many elements are zero.
    """

    minimum: float
    maximum: float
    smallest: float
    nonfinite: int = 0
    octaves: Mapping[int, int] = field(default_factory=dict)
    zeros: int = 0

    @property
    def amax(self) -> float:
        """The largest finite magnitude."""
        return max(-self.minimum, self.maximum, 0.0)


@dataclass(frozen=True, slots=True)
class ValueFact:
    """A value of a model, at any nesting level.

    Attributes:
        name: Its name.
        graph: The path of its graph, such as ``main``.
        kind: What it is for its graph.
        type: Its type as ONNX writes it, such as ``tensor(float16)``; empty where it is unknown.
        dtype: Its element dtype, such as ``float16``; empty where it is unknown.
        shape: Its extents: numbers, names of symbolic dimensions, None for unknown ones; None
            where even the rank is unknown.
        range: What was measured on data; None without data.
    """

    name: str
    graph: str
    kind: ValueKind
    type: str
    dtype: str
    shape: Extents | None
    range: Range | None = None


@dataclass(frozen=True, slots=True)
class NodeFact:
    """A node of a model, at any nesting level.

    Attributes:
        key: The graph that it is in and its position there, such as ``main#12``.
        graph: The path of that graph, such as ``main``.
        name: Its own name; may be empty or shared.
        op_type: Its operator.
        domain: The domain of the operator; empty for ONNX's own.
        scope: The module path of the node; empty where nothing tells.
        dtype: The float dtype that it computes in; an integer or bool one where it reads and writes
            no floats; empty where it is unknown.
        inputs: Names of the values that it reads, empty names for operands that are left out.
        outputs: Names of the values that it writes.
        parameters: Elements of the constants that it reads.
        parameter_bytes: Bytes of these constants as they are stored.
        multiply_accumulates: How many it does for one inference, an unknown batch counted as 1;
            None for operators that do none, or where shapes are unknown.
        origin: Which pass put it there and why; empty for nodes that mpgraph did not insert.
        provider: The execution provider that runs it; empty where that was not asked for, or where
            it does not run.
        placement: ``kept``, ``fused``, ``folded`` or ``removed`` by onnxruntime; empty where that
            was not asked for.
        attributes: Its attributes but for graphs, such as ``axis=1``; a digest stands for the rest
            of long ones.
        decision: What a conversion decided about it, and why; empty without a plan.
    """

    key: str
    graph: str
    name: str
    op_type: str
    domain: str
    scope: str
    dtype: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: int = 0
    parameter_bytes: int = 0
    multiply_accumulates: int | None = None
    origin: str = ""
    provider: str = ""
    placement: str = ""
    attributes: str = ""
    decision: str = ""


@dataclass(frozen=True, slots=True)
class WeightFact:
    """A constant: an initializer, or what a Constant node gives.

    Attributes:
        name: Its name.
        graph: The path of its graph.
        stored: The dtype in which it is stored.
        used: The dtypes in which nodes compute with it, behind Casts and DequantizeLinear too.
        shape: Its extents.
        elements: How many elements it has.
        nbytes: How many bytes it takes.
        consumers: How many operands take it.
        range: Its magnitudes; None where it was not read.
    """

    name: str
    graph: str
    stored: str
    used: tuple[str, ...]
    shape: tuple[int, ...]
    elements: int
    nbytes: int
    consumers: int
    range: Range | None = None


@dataclass(frozen=True, slots=True)
class CastFact:
    """A Cast or CastLike node.

    Attributes:
        key: The key of the node.
        node: Its description.
        scope: Its module path.
        value: The value that it reads.
        result: The value that it writes.
        source: The dtype that it reads.
        target: The dtype that it writes.
        effect: ``widening`` keeps every element; ``narrowing`` may not; ``none`` has equal dtypes.
            Of a pair, the first cast is a ``lossy pair`` where the second brings back what the
            first has rounded, a ``removable pair`` where both together do nothing.
        consumers: How many operands and graph outputs take the result.
        origin: Which pass put it there; empty for the model's own.
    """

    key: str
    node: str
    scope: str
    value: str
    result: str
    source: str
    target: str
    effect: CastEffect
    consumers: int
    origin: str = ""


@dataclass(frozen=True, slots=True)
class QuantizationFact:
    """A node that quantizes, dequantizes, or computes on quantized numbers.

    Attributes:
        key: The key of the node.
        node: Its description.
        op_type: Its operator.
        scope: Its module path.
        value: The quantized value.
        dtype: The dtype of the quantized numbers.
        granularity: ``tensor``, ``axis``, ``block`` or ``dynamic``.
        axis: The axis of scales per axis or block; None per tensor.
        symmetric: Whether every zero point is the middle of the dtype's range; None if unknown.
        scale_low: The least scale; None where scales are computed when the model runs.
        scale_high: The greatest scale.
    """

    key: str
    node: str
    op_type: str
    scope: str
    value: str
    dtype: str
    granularity: Literal["tensor", "axis", "block", "dynamic"]
    axis: int | None
    symmetric: bool | None
    scale_low: float | None
    scale_high: float | None


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over nodes.

    Attributes:
        nodes: Number of nodes by the dtype they compute in; casts, quantizers and Constant nodes,
            which compute nothing, are left out.
        parameters: Number of elements of constants by the dtype they are stored in.
        weight_bytes: Bytes of constants by the dtype they are stored in.
        multiply_accumulates: By the dtype they are computed in.
        casts: Number of Cast and CastLike nodes.
        quantizers: Number of QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear nodes.
    """

    nodes: Mapping[str, int]
    parameters: Mapping[str, int]
    weight_bytes: Mapping[str, int]
    multiply_accumulates: Mapping[str, int]
    casts: int = 0
    quantizers: int = 0


@dataclass(frozen=True, slots=True)
class LayerFact:
    """One level of the layer tree; the root has an empty path.

    Attributes:
        name: The last part of its path.
        path: Its module path from the root, with ``/`` between levels.
        totals: Sums over the nodes below it, its own and those of its children.
        nodes: Keys of the nodes that stand directly in it.
        children: The levels below it, in graph order.
    """

    name: str
    path: str
    totals: Totals
    nodes: tuple[str, ...]
    children: tuple[LayerFact, ...] = ()
