"""Scales and zero points, and how they follow from ranges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mpgraph.errors import InputError
from mpgraph.quant.formats.format import Format
from mpgraph.quant.formats.layout import Array, Layout

__all__ = ["SMALLEST_SCALE", "Parameters", "parameters_from_range"]

_FLOAT32 = np.finfo(np.float32)

SMALLEST_SCALE = float(_FLOAT32.smallest_normal)
"""The least scale that a range gives: below it, runtimes that flush subnormals divide by zero."""


@dataclass(frozen=True, eq=False)
class Parameters:
    """Scales and zero points of a tensor: real = (quantized - zero_point) * scale.

    Attributes:
        scale: float32, finite and above 0; its shape is that of `layout`.
        zero_point: The dtype of the format and the shape of `scale`; all 0 for float8 and int32.
        layout: Which elements share a scale.
        format: What the quantized tensor holds.

    Raises:
        InputError: A scale is not positive and finite, or dtypes or shapes do not agree.
    """

    scale: NDArray[np.float32]
    zero_point: Array
    layout: Layout
    format: Format

    def __post_init__(self) -> None:
        # A numpy scalar is what arithmetic leaves of an array without axes.
        for name in ("scale", "zero_point"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)))
        where = "quantization parameters"
        if self.scale.dtype != np.float32:
            raise InputError(where, f"the scale is {self.scale.dtype}, not float32")
        if self.zero_point.dtype != self.format.numpy_dtype:
            rule = f"the zero point is {self.zero_point.dtype}, the values are {self.format.dtype}"
            raise InputError(where, rule)
        if self.scale.shape != self.zero_point.shape:
            rule = (
                f"scale {self.scale.shape} and zero point {self.zero_point.shape} differ in shape"
            )
            raise InputError(where, rule)
        wrong = ~(np.isfinite(self.scale) & (self.scale > 0))
        if wrong.any():
            found = self.scale[wrong].flat[0]
            raise InputError(where, f"scale {found} is not a positive number")
        if (self.format.is_float or self.format.dtype == "int32") and self.zero_point.any():
            raise InputError(where, f"{self.format.dtype} has no zero point")

    def check_shape(self, shape: tuple[int, ...], name: str) -> None:
        """Check that the scales are those of a tensor of `shape`.

        Raises:
            InputError: They are not; it speaks of `name`.
        """
        expected = self.layout.scale_shape(shape)
        if self.scale.shape != expected:
            rule = f"its scales have shape {list(self.scale.shape)}, not {list(expected)}"
            raise InputError(f"tensor {name!r}", rule)


def parameters_from_range(
    low: ArrayLike,
    high: ArrayLike,
    format: Format,
    layout: Layout,
    *,
    minimum_range: float | None = None,
    name: str = "",
) -> Parameters:
    """Scales and zero points by which a format covers ranges of real values.

    Each range is first extended to hold 0, which is then exact. As in ONNX:

    - asymmetric: scale = (high - low) / (highest - lowest), zero point = round(lowest - low /
      scale), half to even, saturated;
    - symmetric, with amax = max(-low, high): scale = amax / (highest - middle), which is amax / 127
      for int8, amax / 448 for float8e4m3fn and amax / 57344 for float8e5m2.

    A range of nothing but 0 gets scale 1. No scale is below `SMALLEST_SCALE`, and none so large
    that an integer of the format stands for more than float32 holds: a range that reaches float32's
    largest number is cut by the fraction of a step that this takes.

    Args:
        low: Least values, one per scale, in the shape of the scales.
        high: Greatest values likewise.
        format: What the quantized tensor is to hold.
        layout: Which elements share a scale.
        minimum_range: If given, ranges high - low below it are widened to it; QNN asks for 1e-4.
        name: The tensor that an error speaks of.

    Raises:
        InputError: A range is not finite, has its ends swapped, or the shapes differ.
    """
    least, greatest = np.asarray(low, np.float64), np.asarray(high, np.float64)
    _check_ranges(least, greatest, name)
    least, greatest = np.minimum(least, 0.0), np.maximum(greatest, 0.0)
    if format.symmetric:
        amax = np.maximum(-least, greatest)
        if minimum_range is not None:
            amax = np.maximum(amax, minimum_range / 2)
        scale = _positive(amax / (format.highest - format.middle))
        zero = np.full(scale.shape, format.middle)
    else:
        if minimum_range is not None:
            greatest = np.maximum(greatest, least + minimum_range)
        scale = _positive((greatest - least) / (format.highest - format.lowest))
        zero = np.clip(np.rint(format.lowest - least / scale), format.lowest, format.highest)
    scale = np.minimum(scale, _largest_scale(format, zero))
    return Parameters(scale, _as_format(zero, format), layout, format)


def _check_ranges(low: Array, high: Array, name: str) -> None:
    where = f"range of {name!r}" if name else "range"
    if low.shape != high.shape:
        raise InputError(where, f"its ends have shapes {list(low.shape)} and {list(high.shape)}")
    wrong = ~(np.isfinite(low) & np.isfinite(high))
    if wrong.any():
        rule = f"{low[wrong].flat[0]}..{high[wrong].flat[0]} is not finite"
        raise InputError(where, rule, "leave NaN and infinity out of the values")
    swapped = low > high
    if swapped.any():
        raise InputError(where, f"{low[swapped].flat[0]} is above {high[swapped].flat[0]}")


def _positive(scale: NDArray[np.float64]) -> NDArray[np.float32]:
    scale = np.where(scale == 0, 1.0, np.clip(scale, SMALLEST_SCALE, float(_FLOAT32.max)))
    return np.asarray(scale, np.float32)


def _largest_scale(format: Format, zero: NDArray[np.float64]) -> NDArray[np.float32]:
    steps = np.maximum(format.highest - zero, zero - format.lowest)
    # One unit in the last place less, so that the product stays finite however it rounds.
    limit = float(_FLOAT32.max) / np.maximum(steps, 1) * (1 - float(_FLOAT32.eps))
    return np.asarray(limit, np.float32)


def _as_format(values: NDArray[np.float64], format: Format) -> Array:
    # ml_dtypes casts to its small integers much faster from integers than from floats.
    return np.asarray(values.astype(np.int32).astype(format.numpy_dtype))
