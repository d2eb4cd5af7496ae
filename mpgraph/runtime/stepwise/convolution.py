"""Conv as a matrix product of the weights and the columns of the input."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from mpgraph import ir
from mpgraph.runtime.stepwise.products import summed_product
from mpgraph.runtime.stepwise.steps import Steps

__all__ = ["convolution"]

_INT64 = ir.DataType.INT64
_TO_END = np.iinfo(np.int64).max


def convolution(
    steps: Steps, x: ir.Value, w: ir.Value, bias: ir.Value | None, extents_w: Sequence[int]
) -> ir.Value:
    """Conv of ``x [N, C, ...]`` and ``w [M, C / group, ...]``, summed up in float16.

    WebGPU adds up by place in the kernel and then by channel; in a grouped convolution by channel
    and then by place. The bias comes last.

    Args:
        steps: Where to write.
        x: The input.
        w: The weights.
        bias: The bias, if there is one.
        extents_w: The extents of the weights.
    """
    _, channels, *kernel = extents_w
    attribute = steps.node.attributes.get("group")
    group = 1 if attribute is None else attribute.as_int()
    extents = steps.shape_of(steps.same(x, w))
    columns = _columns(steps, x, kernel, extents)
    if group == 1:
        axes = [0, *range(2, 2 + len(kernel)), 1]
        weights = steps.reshaped(steps.op("Transpose", w, perm=axes), [0, -1])
        columns = steps.reshaped(columns, [0, 0, -1])
    else:
        places = int(np.prod(kernel))
        columns = steps.reshaped(columns, [0, places, group * channels, -1])
        columns = steps.op("Transpose", columns, perm=[0, 2, 1, 3])
        columns = steps.reshaped(columns, [0, group, channels * places, -1])
        weights = steps.reshaped(w, [group, -1, channels * places])
    result = steps.reshaped(summed_product(steps, weights, columns, -2), extents)
    if bias is None:
        return result
    return steps.op("Add", result, steps.reshaped(bias, [-1, *[1] * len(kernel)]))


def _columns(steps: Steps, x: ir.Value, kernel: Sequence[int], extents: ir.Value) -> ir.Value:
    """What each place of the kernel reads: ``[N, places * C, ...]`` over the places of the result.

    Args:
        steps: Where to write.
        x: The input.
        kernel: The extents of the kernel.
        extents: The extents of the result, as a value.
    """
    rank = len(kernel)
    strides = _integers(steps, "strides", [1] * rank)
    dilations = _integers(steps, "dilations", [1] * rank)
    reaches = [(size - 1) * step for size, step in zip(kernel, dilations, strict=True)]
    padded = _padded(steps, x, reaches, strides, extents)
    axes, by = steps.integers(range(2, 2 + rank)), steps.integers(strides)
    taken = []
    for place in product(*map(range, kernel)):
        starts = [at * step for at, step in zip(place, dilations, strict=True)]
        # Counted from the end, so that the extents of the input need not be known.
        ends = [at - reach or _TO_END for at, reach in zip(starts, reaches, strict=True)]
        bounds = steps.integers(starts), steps.integers(ends)
        taken.append(steps.op("Slice", padded, *bounds, axes, by))
    return steps.op("Concat", *taken, axis=1)


def _padded(
    steps: Steps, x: ir.Value, reaches: Sequence[int], strides: Sequence[int], extents: ir.Value
) -> ir.Value:
    attribute = steps.node.attributes.get("auto_pad")
    mode = "NOTSET" if attribute is None else attribute.as_string()
    if mode.startswith("SAME"):
        pads = _same_pads(steps, x, reaches, strides, extents, mode)
        return steps.op("Pad", x, pads)
    rank = len(reaches)
    given = _integers(steps, "pads", [0] * (2 * rank))
    if mode == "VALID" or not any(given):
        return x
    return steps.op("Pad", x, steps.integers([0, 0, *given[:rank], 0, 0, *given[rank:]]))


def _same_pads(
    steps: Steps,
    x: ir.Value,
    reaches: Sequence[int],
    strides: Sequence[int],
    extents: ir.Value,
    mode: str,
) -> ir.Value:
    """The pads of ``SAME_UPPER`` or ``SAME_LOWER``, which depend on the extents of the input."""

    def op(op_type: str, *inputs: ir.Value, dtype: ir.DataType = _INT64) -> ir.Value:
        return steps.op(op_type, *inputs, dtype=dtype)

    one, two, none = steps.integers([1]), steps.integers([2]), steps.integers([0])
    end = steps.integers([_TO_END])
    outputs = op("Slice", extents, two, end)
    inputs = op("Slice", steps.shape_of(x), two, end)
    read = op("Mul", op("Sub", outputs, one), steps.integers(strides))
    needed = op("Add", read, steps.integers([reach + 1 for reach in reaches]))
    missing = op("Sub", needed, inputs)
    whole = op("Where", op("Greater", missing, none, dtype=ir.DataType.BOOL), missing, none)
    smaller = op("Div", whole, two)
    larger = op("Sub", whole, smaller)
    first, second = (smaller, larger) if mode == "SAME_UPPER" else (larger, smaller)
    outer = steps.integers([0, 0])
    return steps.op("Concat", outer, first, outer, second, dtype=_INT64, axis=0)


def _integers(steps: Steps, name: str, default: list[int]) -> list[int]:
    attribute = steps.node.attributes.get(name)
    return default if attribute is None else list(attribute.as_ints())
