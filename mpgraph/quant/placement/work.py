"""How much work the nodes of a graph have."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Literal

from mpgraph import ir
from mpgraph.analysis import TypeFlow
from mpgraph.quant.placement.clipped import clipped
from mpgraph.quant.placement.demand import Candidate
from mpgraph.schema import integer
from mpgraph.targets.kernel_times import BLOCK, Work

__all__ = [
    "Kind",
    "conv_work",
    "is_image",
    "matrix_work",
    "runs",
    "takes_blocks",
    "window_steps",
    "work_of",
]

_IMAGE_RANK = 4
_BLOCKED = frozenset(
    ["Add", "AveragePool", "Conv", "GlobalAveragePool", "MaxPool", "Relu", "Sigmoid", "Tanh"]
)
"""Operators that the CPU provider computes on images whose channels lie in blocks."""

Kind = Literal["depthwise", "image", "matrix", "other"]


def work_of(
    candidate: Candidate, shape: tuple[int, ...], counts: Mapping[ir.Value, int]
) -> tuple[Kind, Work]:
    """The work of a node that multiplies, and the kind of its kernel.

    What it reads, or gives where it has to be quantized, is measured; other counts are guesses.

    Args:
        candidate: The node.
        shape: Of its weight.
        counts: How many elements each value holds.
    """
    node, outputs = candidate.node, shape[candidate.operands.channels]
    if node.op_type == "Conv":
        places = counts.get(clipped(node), 1) / outputs
        return conv_work(shape, integer(node, "group", 1, {}), places)
    read, inputs = node.inputs[candidate.operands.activation], prod(shape) // outputs
    rows = (1 if read is None else counts.get(read, 1)) / inputs
    return "matrix", matrix_work(inputs, outputs, rows)


def matrix_work(inputs: int, outputs: int, rows: float) -> Work:
    """The work of a product of matrices [rows, inputs] and [inputs, outputs]."""
    products = rows * inputs * outputs
    return Work(
        kernels=1,
        products=products,
        blocked=products,
        steps=rows,
        gathered=rows * inputs,
        odd=rows * (inputs % BLOCK),
        results=rows * outputs,
        weights=inputs * outputs,
    )


def conv_work(shape: tuple[int, ...], group: int, places: float) -> tuple[Kind, Work]:
    """The work of a convolution, and the kind of its kernel.

    Args:
        shape: Of its weight.
        group: How many groups of channels it has.
        places: The elements of one channel of its result, over all images.
    """
    outputs, inputs, window = shape[0], shape[1], prod(shape[2:])
    depthwise = group > 1 and inputs == 1 and outputs == group
    # Filters of one channel are gathered together, those of a larger group with their own channels.
    steps = places * window * (1 if depthwise else group)
    read = outputs if depthwise else inputs
    filled = inputs if group > 1 or inputs < BLOCK else _filled(inputs)
    work = Work(
        kernels=1,
        products=places * prod(shape),
        blocked=places * window * _filled(outputs) * filled,
        steps=steps,
        gathered=steps * read,
        odd=steps * (read % BLOCK),
        results=places * outputs,
        weights=prod(shape),
    )
    return _kind(shape, group, depthwise=depthwise), work


def _kind(shape: tuple[int, ...], group: int, *, depthwise: bool) -> Kind:
    if len(shape) != 4:
        return "other"
    if depthwise:
        return "depthwise"
    blocks = group == 1 or (shape[1] % BLOCK == 0 and shape[0] // group % BLOCK == 0)
    return "image" if blocks else "other"


def _filled(channels: int) -> int:
    return -(-channels // BLOCK) * BLOCK


def window_steps(node: ir.Node) -> int:
    """The elements of the window of a pooling; 1 for any other node."""
    window = node.attributes.get("kernel_shape")
    return 1 if window is None else prod(window.as_ints())


def runs(node: ir.Node, flow: TypeFlow, count: int, *, channels_last: bool) -> float:
    """How many runs an element-wise node cuts its operands into, where one is repeated.

    In each run the operand is repeated as a whole, or one element of it is.

    Args:
        node: The node.
        flow: The shapes of its values.
        count: The elements of its result.
        channels_last: Whether images lie in memory with their channels last.
    """
    if node.op_type not in ("Add", "Mul"):
        return 0
    whole = flow.shape(node.outputs[0])
    if whole is None:
        return 0
    lengths = [
        _run(whole, shape, channels_last=channels_last)
        for value in node.inputs
        if value is not None and (shape := flow.shape(value)) is not None and shape != whole
    ]
    lengths = [one for one in lengths if one]
    return count / min(lengths) if lengths else 0


def _run(whole: ir.Dims, shape: ir.Dims, *, channels_last: bool) -> int:
    """The elements of a run; 0 where the operand is one number, or extents are not known."""
    aligned = (1,) * (len(whole) - len(shape)) + tuple(shape)
    extents = list(zip(whole, aligned, strict=True))
    if channels_last and len(extents) == _IMAGE_RANK:
        extents = [extents[0], *extents[2:], extents[1]]
    if not shape:
        return 0
    length, repeats = 1, None
    for total, own in reversed(extents):
        if not isinstance(total, int) or not isinstance(own, int):
            return length if repeats is not None else 0
        if repeats is not None and repeats != (own != total):
            return length
        repeats = own != total
        length *= total
    return 0


def takes_blocks(node: ir.Node | None) -> bool:
    """Whether a node of a float model takes and gives images whose channels lie in blocks."""
    return node is not None and node.domain == "" and node.op_type in _BLOCKED


def is_image(value: ir.Value, flow: TypeFlow) -> bool:
    """Whether a Conv over two axes gives or reads a value."""
    if len(flow.shape(value) or ()) != _IMAGE_RANK:
        return False
    producer = value.producer()
    nodes = [use.node for use in value.uses()] + ([] if producer is None else [producer])
    return any(one.op_type == "Conv" for one in nodes)
