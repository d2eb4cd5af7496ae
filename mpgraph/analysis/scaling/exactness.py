"""What a power of two does to float16 numbers: which exponent fits, and which digits are lost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mpgraph import ir

__all__ = [
    "HEADROOM",
    "TARGET",
    "Magnitudes",
    "constant_change",
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


def constant_change(constant: ir.TensorProtocol, exponent: int) -> str:
    """Why a constant times 2^-exponent cannot be stored in float16; empty if it can.

    Compared with the same constant rounded to float16's 11 digits without a limit of its exponent.
    """
    lost = norm = 0.0
    largest = 0.0
    for piece in _pieces(constant):
        ideal = _rounded(piece)
        with np.errstate(over="ignore"):
            kept = np.ldexp(piece, -exponent).astype(np.float16).astype(np.float64)
        largest = max(largest, float(np.abs(kept).max(initial=0.0)))
        if not math.isfinite(largest):
            return f"it would pass {_LIMITS.max:.5g}"
        lost += float(np.square(np.ldexp(kept, exponent) - ideal).sum())
        norm += float(np.square(ideal).sum())
    if lost <= _NEGLIGIBLE_NORM**2 * norm:
        return ""
    return f"it would lose {math.sqrt(lost / norm):.2g} of its norm below the normal range"


def _pieces(constant: ir.TensorProtocol) -> Iterator[NDArray[np.float64]]:
    flat = constant.numpy().reshape(-1)
    for start in range(0, flat.size, _PIECE):
        yield flat[start : start + _PIECE].astype(np.float64)
    del flat
    if isinstance(constant, ir.ExternalTensor):
        constant.release()


def _rounded(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to 11 binary digits."""
    mantissa, exponent = np.frexp(array)
    rounded: NDArray[Any] = np.ldexp(np.rint(np.ldexp(mantissa, 11)), exponent - 11)
    return rounded
