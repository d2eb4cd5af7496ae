"""The least and the greatest value per scale, over tensors of any size."""

from __future__ import annotations

import numpy as np

from mpgraph.errors import InputError
from mpgraph.quant.formats.layout import Array, Layout, chunks

__all__ = ["check_float", "check_numbers", "range_of"]


def range_of(array: Array, layout: Layout, *, name: str = "") -> tuple[Array, Array]:
    """The least and the greatest value of the elements that share a scale.

    Reads `array` in chunks: what is allocated is bounded, whatever its size.

    Args:
        array: float16, bfloat16, float32 or float64.
        layout: Which elements share a scale.
        name: The tensor that an error speaks of.

    Returns:
        Two arrays in the shape of the scales; float64 for float64, else float32. 0 and 0 where
        there is no element.

    Raises:
        InputError: The tensor holds NaN or infinities, is no float tensor, or lacks the axis.
    """
    check_float(array, name)
    dtype = np.float64 if array.dtype == np.float64 else np.float32
    shape = layout.scale_shape(array.shape)
    if array.size == 0:
        return np.zeros(shape, dtype), np.zeros(shape, dtype)
    low, high = np.full(shape, np.inf, dtype), np.full(shape, -np.inf, dtype)
    for (part,), (least, greatest) in chunks(layout, (array,), (low, high)):
        values = part.astype(dtype, copy=False)
        np.minimum(least, _reduced(np.minimum, values, least.shape), out=least)
        np.maximum(greatest, _reduced(np.maximum, values, greatest.shape), out=greatest)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        check_numbers(array, name)
    return low, high


def _reduced(function: np.ufunc, values: Array, shape: tuple[int, ...]) -> Array:
    if values.shape[2] > 1 and values.shape[3] == 1:
        # Groups that lie one behind the other: numpy's reduction of a short last axis is slow.
        starts = np.arange(0, values.size, values.shape[2])
        return function.reduceat(values.reshape(-1), starts).reshape(shape)
    shared = tuple(axis for axis, size in enumerate(shape) if size == 1)
    return np.asarray(function.reduce(values, axis=shared, keepdims=True))


def check_float(array: Array, name: str) -> None:
    """Check that an array is one of the float dtypes that models compute in.

    Raises:
        InputError: It is not.
    """
    if array.dtype.name not in ("float16", "bfloat16", "float32", "float64"):
        rule = f"it is {array.dtype}, and only floats are quantized"
        raise InputError(f"tensor {name!r}", rule)


def check_numbers(array: Array, name: str, *, infinities: bool = True) -> None:
    """Check that an array holds numbers only.

    Raises:
        InputError: It holds NaN, or infinities where those count; the text says how many.
    """
    nan = infinite = 0
    for (part,), _ in chunks(Layout(), (array,), ()):
        nan += int(np.count_nonzero(np.isnan(part)))
        infinite += int(np.count_nonzero(np.isinf(part)))
    if nan or (infinite and infinities):
        rule = f"{nan} NaN and {infinite} infinities among {array.size} values"
        raise InputError(f"tensor {name!r}", rule, "a scale needs finite values")
