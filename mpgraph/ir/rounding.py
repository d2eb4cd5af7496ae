"""Rounds an array to another float type, block by block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from onnx_ir import DataType

from mpgraph.ir.dtypes import limits

__all__ = ["rounded"]

_BLOCK_ELEMENTS = 1 << 18  # 1 MiB of float32: stays in the cache between the two passes


def rounded(array: NDArray[np.generic], dtype: DataType) -> NDArray[np.generic]:
    """Returns a copy of `array` in the float type `dtype`, rounded half to even.

    A finite number beyond the range becomes the largest finite one of its sign, so that a mask
    of -FLT_MAX stays a number; infinities and NaN stay what they are. Works in blocks, so that
    nothing but the result is allocated.
    """
    result = np.empty(array.shape, dtype=dtype.numpy())
    source, target = np.ravel(array), result.reshape(-1)
    largest = limits(dtype).max
    for start in range(0, source.size, _BLOCK_ELEMENTS):
        block = source[start : start + _BLOCK_ELEMENTS]
        # False for NaN too, which then takes the careful way.
        if not (float(block.min()) >= -largest and float(block.max()) <= largest):
            wide = block.astype(np.float64)
            block = np.where(np.isfinite(wide), np.clip(wide, -largest, largest), wide)
        target[start : start + _BLOCK_ELEMENTS] = block
    return result
