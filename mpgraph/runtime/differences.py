"""How far two arrays, or two streams of arrays, are apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

__all__ = ["Difference", "Tally"]

Array: TypeAlias = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """One value of two models compared over all samples.

    Attributes:
        name: The name of the value.
        samples: Samples compared.
        elements: Elements compared, over all samples.
        max_abs: Largest \\|a - b\\|; inf where only one of the two is finite.
        max_relative: Largest \\|a - b\\| of a sample over the range of ``a`` in that sample, zero
            included in the range; the absolute error where that range is zero.
        sqnr_db: 10 log10(sum a^2 / sum (a - b)^2) in dB; inf without any difference, -inf where
            only one of the two is finite.
        cosine: Cosine similarity of a and b over all samples; 1 where both are zero, 0 where only
            one of the two is finite.
        nan_a, nan_b, inf_a, inf_b: Counts of NaN and infinite elements.
        mismatches: Elements that differ where they must be equal: integers, booleans, strings,
            and NaN or infinity that is not in both.
        error: Why the values cannot be compared (shape, dtype, missing); empty if they can.
        node, op_type: What computes the value in ``a``; empty where that is not known.
        dtype_a, dtype_b: What the value is in each model, such as "float16"; empty if unknown.
    """

    name: str
    samples: int
    elements: int
    max_abs: float
    max_relative: float
    sqnr_db: float
    cosine: float
    nan_a: int = 0
    nan_b: int = 0
    inf_a: int = 0
    inf_b: int = 0
    mismatches: int = 0
    error: str = ""
    node: str = ""
    op_type: str = ""
    dtype_a: str = ""
    dtype_b: str = ""

    def is_beyond(self, limit: float) -> bool:
        """Whether it differs by more than ``limit`` of the range, or where it must be equal."""
        return bool(self.error or self.mismatches) or not self.max_relative <= limit

    @property
    def is_equal(self) -> bool:
        """Whether every element agrees exactly."""
        return not self.error and not self.mismatches and self.max_abs == 0.0


@dataclass(slots=True)
class Tally:
    """Accumulates the difference of one value, sample by sample."""

    name: str
    samples: int = 0
    elements: int = 0
    max_abs: float = 0.0
    max_relative: float = 0.0
    signal: float = 0.0
    signal_b: float = 0.0
    product: float = 0.0
    noise: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    mismatches: int = 0
    error: str = ""

    def add(self, a: Any, b: Any) -> None:
        """Take in one sample; arrays, lists of arrays (sequences), or None (empty optional)."""
        self.samples += 1
        if isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                self._fail(f"the sequence has {len(a)} elements in a and {len(b)} in b")
                return
            for one, other in zip(a, b, strict=True):
                self._add(one, other)
            return
        self._add(a, b)

    def result(self) -> Difference:
        """What was found so far."""
        sqnr = math.inf
        if self.noise > 0:
            sqnr = 10 * math.log10(self.signal / self.noise) if self.signal > 0 else -math.inf
        norm = math.sqrt(self.signal) * math.sqrt(self.signal_b)
        cosine = 1.0 if self.noise == 0 else self.product / norm if norm > 0 else 0.0
        bad = bool(self.error) or not self.samples or math.isinf(self.max_abs)
        return Difference(
            self.name,
            self.samples,
            self.elements,
            math.inf if bad else self.max_abs,
            math.inf if bad else self.max_relative,
            -math.inf if bad else sqnr,
            0.0 if bad else min(1.0, cosine),
            nan_a=self.counts.get("nan_a", 0),
            nan_b=self.counts.get("nan_b", 0),
            inf_a=self.counts.get("inf_a", 0),
            inf_b=self.counts.get("inf_b", 0),
            mismatches=self.mismatches,
            error=self.error or ("" if self.samples else "was never computed"),
        )

    def _fail(self, error: str) -> None:
        self.error = self.error or f"sample {self.samples - 1}: {error}"

    def _add(self, a: Any, b: Any) -> None:
        if a is None and b is None:
            return
        if isinstance(a, dict) and isinstance(b, dict):
            self._maps(a, b)
            return
        if not isinstance(a, np.ndarray | np.generic) or not isinstance(b, np.ndarray | np.generic):
            self._fail(f"a is {_kind(a)}, b is {_kind(b)}")
            return
        one, other = np.asarray(a), np.asarray(b)
        if one.shape != other.shape:
            self._fail(f"a has shape {list(one.shape)}, b has {list(other.shape)}")
            return
        if _is_float(one) != _is_float(other):
            self._fail(f"a is {one.dtype}, b is {other.dtype}")
            return
        self.elements += one.size
        if one.size == 0:
            return
        if _is_float(one):
            self._floats(one.astype(np.float64), other.astype(np.float64))
        else:
            self._exact(one, other)

    def _maps(self, a: Mapping[Any, Any], b: Mapping[Any, Any]) -> None:
        """Maps of ai.onnx.ml hold one number or text for each key."""
        if a.keys() != b.keys():
            self._fail("the maps have different keys")
            return
        self._add(np.asarray(list(a.values())), np.asarray([b[key] for key in a]))

    def _floats(self, a: Array, b: Array) -> None:
        finite_a, finite_b = np.isfinite(a), np.isfinite(b)
        if not (finite_a.all() and finite_b.all()):
            for key, where in (
                ("nan_a", np.isnan(a)),
                ("nan_b", np.isnan(b)),
                ("inf_a", np.isinf(a)),
                ("inf_b", np.isinf(b)),
            ):
                self.counts[key] = self.counts.get(key, 0) + int(np.count_nonzero(where))
            both = finite_a & finite_b
            same = both | (np.isnan(a) & np.isnan(b)) | (a == b)
            wrong = int(a.size - np.count_nonzero(same))
            if wrong:
                self.mismatches += wrong
                self.max_abs = self.max_relative = math.inf
            a, b = a[both], b[both]
            if a.size == 0:
                return
        self._numbers(a, b)

    def _exact(self, a: Array, b: Array) -> None:
        wrong = int(np.count_nonzero(a != b))
        self.mismatches += wrong
        if a.dtype.kind in "iu" and b.dtype.kind in "iu":
            self._numbers(a.astype(np.float64), b.astype(np.float64))
        elif wrong:
            self.max_abs = max(self.max_abs, 1.0)
            self.max_relative = max(self.max_relative, 1.0)

    def _numbers(self, a: Array, b: Array) -> None:
        a, b = a.ravel(), b.ravel()
        error = a - b
        worst = float(np.max(np.abs(error)))
        scale = max(float(a.max()), 0.0) - min(float(a.min()), 0.0)
        self.max_abs = max(self.max_abs, worst)
        self.max_relative = max(self.max_relative, worst / scale if scale > 0 else worst)
        with np.errstate(over="ignore"):
            self.signal += _dot(a, a)
            self.signal_b += _dot(b, b)
            self.product += _dot(a, b)
            self.noise += _dot(error, error)


def _dot(a: Array, b: Array) -> float:
    # Not a @ b: the threads of BLAS fight with those of onnxruntime.
    return float(np.einsum("i,i->", a, b))


def _is_float(array: Array) -> bool:
    # numpy counts the types of ml_dtypes as "V"; integers of 4 bits among them are not floats.
    if array.dtype.kind == "V":
        return "float" in str(array.dtype)
    return bool(array.dtype.kind == "f")


def _kind(value: object) -> str:
    return "nothing" if value is None else type(value).__name__
