"""The magnitudes in an array: extremes, and how many elements lie in each octave.

Large arrays are counted through the bits of their elements: 16- and 8-bit dtypes have few enough
values for a table, and of a float32 the exponent is a byte.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Magnitudes", "magnitudes", "magnitudes_of_pieces", "merge_octaves", "octaves"]

_Array = NDArray[np.generic]

_FEW = 1 << 12
"""Up to so many elements, tables cost more than they save."""

_BLOCK = 1 << 18
"""Elements that stay in the processor's cache for several passes."""

_SIGN = np.uint32(0x7FFFFFFF)
_EXPONENT_BITS = np.uint32(23)
_EXPONENT_BIAS = 127
_NOT_FINITE = 255


@dataclass(frozen=True, slots=True)
class Magnitudes:
    """What magnitudes an array holds; those of two arrays merge to those of both.

    Attributes:
        minimum: The least finite element; infinity where there is none.
        maximum: The greatest finite element; minus infinity where there is none.
        smallest: The smallest nonzero magnitude; infinity where there is none.
        nonfinite: How many elements are NaN or infinite.
        zeros: How many elements are zero.
        octaves: How many finite nonzero elements have a magnitude in [2^e, 2^(e+1)), by e.
    """

    minimum: float = math.inf
    maximum: float = -math.inf
    smallest: float = math.inf
    nonfinite: int = 0
    zeros: int = 0
    octaves: Mapping[int, int] = field(default_factory=dict)

    @property
    def amax(self) -> float:
        """The largest finite magnitude; 0 where there is none."""
        return max(-self.minimum, self.maximum, 0.0)

    def merge(self, other: Magnitudes) -> Magnitudes:
        """The magnitudes over what both saw."""
        return Magnitudes(
            min(self.minimum, other.minimum),
            max(self.maximum, other.maximum),
            min(self.smallest, other.smallest),
            self.nonfinite + other.nonfinite,
            self.zeros + other.zeros,
            merge_octaves(self.octaves, other.octaves),
        )


def merge_octaves(first: Mapping[int, int], second: Mapping[int, int]) -> Mapping[int, int]:
    """The counts of two histograms by exponent, together."""
    merged = dict(first)
    for exponent, count in second.items():
        merged[exponent] = merged.get(exponent, 0) + count
    return merged


def octaves(array: NDArray[Any]) -> Mapping[int, int]:
    """How many finite nonzero elements lie in each octave, by its exponent.

    The same as ``magnitudes(array).octaves``, and quicker for arrays of a few thousand elements.
    """
    flat = array.reshape(-1)
    if flat.dtype == np.float32 and flat.size <= _BLOCK:
        exponents = np.right_shift(flat.view(np.uint32), _EXPONENT_BITS).astype(np.uint8)
        counts = np.bincount(exponents, minlength=256)
        zeros = int(counts[0]) and flat.size - np.count_nonzero(flat)
        if not counts[_NOT_FINITE] and counts[0] == zeros:
            return _named(counts)
    return magnitudes(flat).octaves


def magnitudes(array: NDArray[Any]) -> Magnitudes:
    """The magnitudes of an array of any real dtype, those of ``ml_dtypes`` included.

    Linear in its size; besides the array itself it needs a few megabytes.
    """
    return magnitudes_of_pieces([array])


def magnitudes_of_pieces(pieces: Iterable[NDArray[Any]]) -> Magnitudes:
    """The magnitudes of an array that comes in pieces, which are not kept."""
    found = Magnitudes()
    scan = _Float32Scan()
    for piece in pieces:
        flat = piece.reshape(-1)
        if flat.size > _FEW and flat.dtype.itemsize <= 2:
            found = found.merge(_by_table(flat))
            continue
        for start in range(0, flat.size, _BLOCK):
            block = flat[start : start + _BLOCK]
            if block.dtype != np.float32 or block.size <= _FEW or not scan.add(block):
                found = found.merge(_of_block(block))
    return found.merge(scan.found())


class _Float32Scan:
    """Accumulates normal float32 numbers and zeros, with the same memory for every block."""

    def __init__(self) -> None:
        self._words = np.empty(0, np.uint32)
        self._exponents = np.empty(0, np.uint8)
        self._pairs = np.zeros(0, np.int64)
        self._singles = np.zeros(256, np.int64)
        self._low, self._high = math.inf, -math.inf
        self._smallest = math.inf

    def add(self, block: NDArray[Any]) -> bool:
        """Count a block; False, and nothing counted, where it holds anything else."""
        if self._words.size < block.size:
            self._words = np.empty(block.size, np.uint32)
            self._exponents = np.empty(block.size + 1, np.uint8)
            self._pairs = self._pairs if self._pairs.size else np.zeros(1 << 16, np.int64)
        bits, words = block.view(np.uint32), self._words[: block.size]
        exponents = self._exponents[: block.size]
        np.right_shift(bits, _EXPONENT_BITS, out=words)
        # The cast to a byte drops the sign, which stands before the exponent.
        np.copyto(exponents, words, casting="unsafe")
        lowest = int(exponents.min())
        if exponents.max() == _NOT_FINITE or (lowest == 0 and _holds_subnormals(bits, exponents)):
            return False
        paired = block.size & ~1
        # Two exponents at once: half the work, and fewer additions to one and the same number.
        self._pairs += np.bincount(exponents[:paired].view(np.uint16), minlength=1 << 16)
        self._singles += np.bincount(exponents[paired:], minlength=256)
        self._low = min(self._low, float(block.min()))
        self._high = max(self._high, float(block.max()))
        if 2.0 ** (lowest - _EXPONENT_BIAS) < self._smallest:
            np.bitwise_and(bits, _SIGN, out=words)
            # Less one, a zero is the largest of all numbers.
            np.subtract(words, np.uint32(1), out=words)
            least = int(words.min()) + 1
            if least <= _SIGN:
                self._smallest = min(self._smallest, float(np.uint32(least).view(np.float32)))
        return True

    def found(self) -> Magnitudes:
        counts = self._singles
        if self._pairs.size:
            pairs = self._pairs.reshape(256, 256)
            counts = counts + pairs.sum(axis=0) + pairs.sum(axis=1)
        zeros = int(counts[0])
        return Magnitudes(self._low, self._high, self._smallest, 0, zeros, _named(counts))


def _holds_subnormals(bits: NDArray[np.uint32], exponents: NDArray[np.uint8]) -> bool:
    zeros = bits.size - np.count_nonzero(np.bitwise_and(bits, _SIGN))
    return bool(exponents.size - np.count_nonzero(exponents) > zeros)


def _of_block(block: _Array) -> Magnitudes:
    values = block.astype(np.float64)
    nonfinite = 0
    if not (finite := np.isfinite(values)).all():
        values = values[finite]
        nonfinite = block.size - values.size
    if not values.size:
        return Magnitudes(nonfinite=nonfinite)
    sizes = np.abs(values)
    nonzero = sizes[sizes > 0]
    return Magnitudes(
        float(values.min()),
        float(values.max()),
        float(nonzero.min(initial=math.inf)),
        nonfinite,
        values.size - nonzero.size,
        _octaves(nonzero),
    )


def _octaves(
    nonzero: NDArray[np.float64], counts: NDArray[np.int64] | None = None
) -> dict[int, int]:
    # frexp gives a fraction in [0.5, 1).
    exponents = np.frexp(nonzero)[1] - 1
    found: dict[int, int] = {}
    if exponents.size:
        lowest = int(exponents.min())
        totals = np.bincount(exponents - lowest, weights=counts)
        found = {lowest + int(index): int(totals[index]) for index in np.flatnonzero(totals)}
    return found


def _by_table(flat: _Array) -> Magnitudes:
    """Counts how often each bit pattern occurs, of a dtype of one or two bytes."""
    bits = flat.view(np.uint8 if flat.dtype.itemsize == 1 else np.uint16)
    values = _table(flat.dtype)
    counts = np.zeros(values.size, np.int64)
    for start in range(0, bits.size, _BLOCK):
        counts += np.bincount(bits[start : start + _BLOCK], minlength=values.size)
    there = counts > 0
    finite = there & np.isfinite(values)
    nonzero = finite & (values != 0)
    sizes = np.abs(values[nonzero])
    return Magnitudes(
        float(values[finite].min(initial=math.inf)),
        float(values[finite].max(initial=-math.inf)),
        float(sizes.min(initial=math.inf)),
        int(counts[there & ~finite].sum()),
        int(counts[finite & (values == 0)].sum()),
        _octaves(sizes, counts[nonzero]),
    )


@cache
def _table(dtype: np.dtype[Any]) -> NDArray[np.float64]:
    """The number that each bit pattern of a dtype stands for."""
    bits = np.arange(1 << 8 * dtype.itemsize, dtype=np.uint8 if dtype.itemsize == 1 else np.uint16)
    if dtype == np.bool_:
        return np.asarray(bits != 0, np.float64)
    with np.errstate(invalid="ignore"):
        numbers = np.empty(bits.size, np.float64)
        numbers[:] = bits.view(dtype)
    return numbers


def _named(counts: NDArray[np.int64]) -> dict[int, int]:
    """Counts of biased exponents of normal float32 numbers, by exponent."""
    return {int(one) - _EXPONENT_BIAS: int(counts[one]) for one in np.flatnonzero(counts[1:]) + 1}
