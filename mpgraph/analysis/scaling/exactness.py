"""What a power of two does to float16 numbers: which exponent fits, and which digits are lost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mpgraph import ir

__all__ = [
    "HEADROOM",
    "TARGET",
    "Magnitudes",
    "constant_change",
    "constant_overflow",
    "digits_text",
    "fits",
    "keeps_digits",
    "needed_exponent",
]

HEADROOM = 2.0
"""Other inputs than the measured ones may be larger by this factor."""

TARGET = 2.0**14
"""A scaled value stays within this magnitude: a factor of four below the largest float16 number,
for larger inputs than those measured and for sums inside an operator, which are not measured."""

_LIMITS = ir.limits(ir.DataType.FLOAT16)
_HALF_SUBNORMAL = 2.0**-25
"""Half the smallest float16 subnormal: the most that rounding takes from a number below 2^-14."""

_NEGLIGIBLE = 2.0**-16
"""Share of the mean magnitude that an element below the normal range may lose. Rounding to float16
takes up to 2^-12 of an element."""

_LARGEST_INEXACT = 10
"""Up to this exponent an element of magnitude 1 loses no more than 2^-15. A mean says nothing of
the small elements where a few are huge, as under an attention mask."""

_NEGLIGIBLE_NORM = 2.0**-13
"""Share of its norm that a constant may lose to subnormals. Rounding to float16 takes about as
much from any constant."""

_NEGLIGIBLE_SLICE = 2.0**-10
"""The same for one slice along the first or last axis, such as the weights of one channel."""

_PIECE = 1 << 16


class Magnitudes(Protocol):
    """What a measurement knows about the magnitudes in one value."""

    @property
    def amax(self) -> float:
        """The largest finite magnitude."""
        ...

    @property
    def amin_nonzero(self) -> float:
        """The smallest nonzero magnitude; infinity if all elements are zero."""
        ...

    @property
    def mean_abs(self) -> float:
        """The mean magnitude."""
        ...


def fits(amax: float, exponent: int = 0) -> bool:
    """Whether a value of magnitude ``amax`` times 2^-exponent is safe in float16."""
    return amax * HEADROOM <= _LIMITS.max * 2.0**exponent


def needed_exponent(amax: float) -> int:
    """The k with which a value times 2^-k is safe: max(0, ceil(log2(amax / TARGET))), or 0."""
    return 0 if fits(amax) else math.ceil(math.log2(amax / TARGET))


def keeps_digits(seen: Magnitudes, exponent: int) -> bool:
    """Whether a value times 2^-exponent loses no digits that count to float16's subnormals.

    Either no element falls below 2^-14, or the exponent is at most 10 and what such an element
    loses, at most 2^(exponent - 25) of the value before scaling, is below 2^-16 of the value's
    mean magnitude.
    """
    if _is_exact(seen, exponent):
        return True
    return exponent <= _LARGEST_INEXACT and _loss(exponent) <= _NEGLIGIBLE * seen.mean_abs


def digits_text(seen: Magnitudes, exponent: int) -> str:
    """How exact a value times 2^-exponent is, as a phrase."""
    if _is_exact(seen, exponent):
        return "exact"
    return (
        f"elements below {2.0 ** (exponent - 14):.2g} lose up to {_loss(exponent):.2g},"
        f" the mean magnitude is {seen.mean_abs:.2g}"
    )


def _is_exact(seen: Magnitudes, exponent: int) -> bool:
    return exponent <= 0 or seen.amin_nonzero >= _LIMITS.smallest_normal * 2.0**exponent


def _loss(exponent: int) -> float:
    return _HALF_SUBNORMAL * 2.0**exponent


def constant_overflow(constant: ir.TensorProtocol, exponent: int) -> str:
    """Why a constant times 2^-exponent is too large for float16; empty if it is not."""
    rows = _rows_at_a_time(constant)
    largest = max(
        (float(np.abs(piece).max(initial=0)) for piece in _pieces(constant, rows)), default=0
    )
    return "" if largest * 2.0**-exponent <= _LIMITS.max else f"it would pass {_LIMITS.max:.5g}"


def constant_change(constant: ir.TensorProtocol, exponent: int) -> str:
    """Why a constant times 2^-exponent cannot be stored in float16; empty if it can.

    It must not pass the largest number, nor lose more to subnormals than it does unscaled: little
    of its norm, and of the norm of any slice along its first and last axis.
    """
    lost, norm = _Squares(), _Squares()
    for piece in _pieces(constant, _rows_at_a_time(constant)):
        with np.errstate(over="ignore"):
            kept = np.ldexp(piece, -exponent).astype(np.float16).astype(np.float64)
        if not np.isfinite(kept).all():
            return f"it would pass {_LIMITS.max:.5g}"
        if exponent > 0:
            unscaled = _unscaled(piece)
            lost.add(np.ldexp(kept, exponent) - unscaled)
            norm.add(unscaled)
    share = lost.share(norm)
    if share > _NEGLIGIBLE_NORM:
        return f"it would lose {share:.2g} of its norm below the normal range"
    share = lost.largest_share(norm)
    if share > _NEGLIGIBLE_SLICE:
        return f"one of its slices would lose {share:.2g} of its norm below the normal range"
    return ""


@dataclass
class _Squares:
    """Sums of squares: in all, by row, and by place in the last axis."""

    total: float = 0.0
    rows: list[NDArray[np.float64]] = field(default_factory=list)
    columns: NDArray[np.float64] | float = 0.0

    def add(self, piece: NDArray[np.float64]) -> None:
        """Add some rows, which are (rows, ..., last axis)."""
        square = np.square(piece)
        self.total += float(square.sum())
        if piece.ndim > 1:
            self.rows.append(square.reshape(len(piece), -1).sum(axis=1))
            self.columns = self.columns + square.reshape(-1, piece.shape[-1]).sum(axis=0)

    def share(self, whole: _Squares) -> float:
        """The root of the quotient of the totals."""
        return math.sqrt(self.total / whole.total) if whole.total else 0.0

    def largest_share(self, whole: _Squares) -> float:
        """The largest root of a quotient of slices."""
        if not self.rows:
            return 0.0
        parts = np.concatenate([*self.rows, np.atleast_1d(self.columns)])
        wholes = np.concatenate([*whole.rows, np.atleast_1d(whole.columns)])
        return math.sqrt(float(np.max(parts / np.where(wholes > 0, wholes, 1.0), initial=0.0)))


def _rows_at_a_time(constant: ir.TensorProtocol) -> int:
    rows = constant.shape.numpy()[0] if constant.shape.rank() else 1
    return max(1, _PIECE * rows // max(constant.size, 1))


def _pieces(constant: ir.TensorProtocol, rows: int) -> Iterator[NDArray[np.float64]]:
    """Some rows at a time, without what is not finite; a number is one row."""
    array = np.atleast_1d(constant.numpy())
    for start in range(0, len(array), rows):
        piece = array[start : start + rows].astype(np.float64)
        yield np.where(np.isfinite(piece), piece, 0.0)
    del array
    if isinstance(constant, ir.ExternalTensor):
        constant.release()


def _unscaled(piece: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rounded to float16; to its 11 binary digits where it is too large for it."""
    with np.errstate(over="ignore"):
        plain = piece.astype(np.float16).astype(np.float64)
    mantissa, exponent = np.frexp(piece)
    digits = np.ldexp(np.rint(np.ldexp(mantissa, 11)), exponent - 11)
    unscaled: NDArray[np.float64] = np.where(np.isfinite(plain), plain, digits)
    return unscaled
