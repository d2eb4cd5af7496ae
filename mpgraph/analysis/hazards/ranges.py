"""Magnitudes in constants: the largest, and those that a low dtype cannot tell from zero."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpgraph import ir

__all__ = ["TYPICAL_MAGNITUDE", "ConstantRange", "is_lost", "range_of_tensor", "smallest_lost"]

TYPICAL_MAGNITUDE = 16.0
"""Activations of normalised networks rarely pass this."""

_ROUNDING = 2.0**-8
"""A small number that loses more than this fraction of itself is taken for lost."""

_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class ConstantRange:
    """The magnitudes in a constant.

    Attributes:
        amax: The largest finite magnitude; 0 for an empty constant.
        size: The number of elements.
    """

    amax: float
    size: int


def range_of_tensor(constant: ir.TensorProtocol | None, exponent: int = 0) -> ConstantRange:
    """The range of a numeric tensor times 2^-exponent; that of an empty one where there is none."""
    if constant is None or constant.size == 0:
        return ConstantRange(0.0, 0)
    amax = _amax(constant.numpy())
    _release(constant)
    return ConstantRange(amax * 2.0**-exponent, constant.size)


def is_lost(magnitude: float, dtype: ir.DataType) -> bool:
    """Whether a nonzero magnitude below the normal range loses its digits in a dtype."""
    if not 0 < magnitude < ir.limits(dtype).smallest_normal:
        return False
    rounded = float(np.float32(magnitude).astype(dtype.numpy()))
    return abs(rounded - magnitude) > _ROUNDING * magnitude


def smallest_lost(
    constant: ir.TensorProtocol | None, dtype: ir.DataType, exponent: int = 0
) -> float | None:
    """The smallest magnitude times 2^-exponent that loses its digits; None where none does.

    Reads the whole tensor, block by block.
    """
    if constant is None or constant.size == 0:
        return None
    found = min(_lost(constant.numpy().reshape(-1), dtype, exponent), default=None)
    _release(constant)
    return found


def _lost(array: NDArray[np.generic], dtype: ir.DataType, exponent: int) -> Iterator[float]:
    normal = ir.limits(dtype).smallest_normal
    for start in range(0, array.size, _BLOCK):
        block = np.abs(array[start : start + _BLOCK].astype(np.float64)) * 2.0**-exponent
        small = block[(block > 0) & (block < normal)]
        rounded = small.astype(np.float32).astype(dtype.numpy()).astype(np.float64)
        lost = small[np.abs(rounded - small) > _ROUNDING * small]
        if lost.size:
            yield float(lost.min())


def _amax(array: NDArray[np.generic]) -> float:
    amax = max(abs(float(array.max())), abs(float(array.min())))
    if np.isfinite(amax):
        return amax
    finite = array[np.isfinite(array)]
    return float(np.abs(finite).max()) if finite.size else 0.0


def _release(constant: ir.TensorProtocol) -> None:
    if isinstance(constant, ir.ExternalTensor):
        constant.release()
