"""GPTQ: each rounding error is made up for in the weights that are not rounded yet.

Frantar, Ashkboos, Hoefler and Alistarh, "GPTQ: Accurate Post-Training Quantization for Generative
Pre-trained Transformers", 2022 (arXiv 2210.17323), algorithm 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mpgraph.quant.algorithms.rounding import Rounded, layout_of, round_to_nearest
from mpgraph.quant.formats import Format, Layout, Parameters, parameters_from_range, range_of
from mpgraph.quant.formats.layout import Array

__all__ = ["gptq"]

_DAMPING = 0.01
_BATCH = 128
_DAMPINGS = 8


def gptq(
    weight: Array,
    moments: NDArray[np.float32],
    format: Format,
    block_size: int | None,
    *,
    by_activation: bool = False,
) -> Rounded:
    """Round a weight so that its product with the activations changes little.

    Input channels are rounded one after the other; the error of each, weighted by the inverse of
    the second moments, is taken off the channels that follow. Scales of a block are taken when its
    first channel is reached, or from the weight as it was where channels are taken out of order.

    Args:
        weight: Float [inputs, outputs].
        moments: Second moments of the activations [inputs, inputs], the sum of x x^T.
        format: An integer format.
        block_size: Inputs per scale; None for one scale per output.
        by_activation: Whether the channels with the largest activations are rounded first.
    """
    left = np.array(weight, np.float32)
    order = np.arange(len(left))
    if by_activation:
        order = np.argsort(-np.diagonal(moments), kind="stable")
    inverse = _inverse_factor(moments[np.ix_(order, order)])
    scales = _Scales(left, format, block_size, fixed=by_activation)
    left = left[order]
    steps = np.empty(left.shape, np.float32)
    for start in range(0, len(left), _BATCH):
        stop = min(start + _BATCH, len(left))
        errors = np.empty((stop - start, left.shape[1]), np.float32)
        for row in range(start, stop):
            channel = int(order[row])
            scales.reach(channel, left, row)
            scale, zero = scales.of(channel)
            rounded = np.rint(left[row] / scale) + zero
            np.clip(rounded, format.lowest, format.highest, out=rounded)
            steps[row] = rounded
            errors[row - start] = (left[row] - (rounded - zero) * scale) / inverse[row, row]
            left[row + 1 : stop] -= np.outer(inverse[row, row + 1 : stop], errors[row - start])
        left[stop:] -= inverse[start:stop, stop:].T @ errors
    values = np.empty(steps.shape, np.int16)
    values[order] = steps
    return Rounded(_as_format(values, format), scales.parameters())


class _Scales:
    """The scales of a weight, block by block as the channels are reached."""

    def __init__(
        self, weight: NDArray[np.float32], format: Format, block_size: int | None, *, fixed: bool
    ) -> None:
        self._format = format
        self._size = block_size or len(weight)
        self._layout = layout_of(block_size)
        plain = round_to_nearest(weight, format, block_size).parameters
        shape = (-1, weight.shape[1])
        self._scale = plain.scale.reshape(shape).copy()
        self._zero = plain.zero_point.astype(np.float32).reshape(shape).copy()
        self._fixed = fixed

    def reach(self, channel: int, left: NDArray[np.float32], row: int) -> None:
        """Take the scales of the block that begins with a channel from what is left of it."""
        if self._fixed or channel % self._size:
            return
        part = left[row : row + self._size]
        low, high = range_of(part, Layout.per_axis(1))
        found = parameters_from_range(low, high, self._format, Layout.per_axis(1))
        block = channel // self._size
        self._scale[block] = found.scale
        self._zero[block] = found.zero_point.astype(np.float32)

    def of(self, channel: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The scales and zero points of a channel."""
        block = channel // self._size
        return self._scale[block], self._zero[block]

    def parameters(self) -> Parameters:
        """All of them."""
        blocks = self._layout.block_size is not None
        scale = self._scale if blocks else self._scale[0]
        zero = (self._zero if blocks else self._zero[0]).astype(np.int16)
        return Parameters(scale, _as_format(zero, self._format), self._layout, self._format)


def _inverse_factor(moments: NDArray[np.float32]) -> NDArray[np.float32]:
    """The upper Cholesky factor of the inverse of the damped moments."""
    wide = np.asarray(moments, np.float64)
    diagonal = np.diagonal(wide).copy()
    diagonal[diagonal == 0] = 1
    damping = _DAMPING * float(diagonal.mean())
    for _ in range(_DAMPINGS):
        damped = wide.copy()
        np.fill_diagonal(damped, diagonal + damping)
        try:
            lower = np.linalg.cholesky(np.linalg.inv(damped))
        except np.linalg.LinAlgError:
            damping *= 10
            continue
        return np.ascontiguousarray(lower.T, np.float32)
    return np.eye(len(wide), dtype=np.float32)


def _as_format(values: Array, format: Format) -> Array:
    # ml_dtypes casts to its small integers from int8 a hundred times faster than from others.
    return values.astype(np.int8 if format.ir_dtype.bitwidth < 8 else format.numpy_dtype).astype(
        format.numpy_dtype
    )
