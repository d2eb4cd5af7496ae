"""Running models on a real provider and under emulation, and how far the results are apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

import mpgraph
from mpgraph import ir
from mpgraph.runtime import emulated, run
from mpgraph.runtime.survival import emulated_session
from mpgraph.targets import get_target

__all__ = ["BF16", "F16", "Array", "both", "emulate", "finite", "of_one", "of_range", "ulps"]

Array: TypeAlias = np.ndarray[Any, Any]
F16 = np.dtype(np.float16)
BF16 = np.dtype(ml_dtypes.bfloat16)


def both(
    model: ir.Model, target: str, settings: Mapping[str, str] | None = None, **feed: Array
) -> tuple[Array, Array]:
    """Output ``y`` of the provider, which takes every node, and output ``y`` of the emulation."""
    session = mpgraph.session(model, target=target, strict=True, settings=settings)
    return run(session, feed)["y"], emulate(model, feed, target)["y"]


def emulate(model: ir.Model, feed: Mapping[str, Array], target: str) -> dict[str, Array]:
    """What the emulation computes with the arithmetic of a target."""
    return run(emulated_session(emulated(model, get_target(target).arithmetic)), feed)


def finite(dtype: np.dtype[Any]) -> Array:
    """Every finite value of a dtype of 16 bits."""
    values = np.arange(2**16, dtype=np.uint16).view(dtype)
    return values[np.isfinite(values.astype(np.float32))]


def ulps(got: Array, wanted: Array) -> int:
    """The most values of the dtype between two elements; those without NaN must agree on it."""
    nan = np.isnan(got.astype(np.float32))
    np.testing.assert_array_equal(nan, np.isnan(wanted.astype(np.float32)))
    steps = np.abs(_place(got) - _place(wanted))
    return int(steps[~nan].max())


def of_range(got: Array, wanted: Array) -> float:
    """The largest difference over the range of ``wanted``."""
    exact = wanted.astype(np.float64)
    return float(np.abs(got.astype(np.float64) - exact).max() / (exact.max() - exact.min()))


def of_one(got: Array, wanted: Array) -> float:
    """The largest difference over ``max(1, |wanted|)``; infinite elements must be equal."""
    first, second = got.astype(np.float64), wanted.astype(np.float64)
    inside = np.isfinite(first) & np.isfinite(second)
    np.testing.assert_array_equal(first[~inside], second[~inside])
    error = np.abs(first[inside] - second[inside])
    return float((error / np.maximum(1, np.abs(second[inside]))).max())


def _place(values: Array) -> Array:
    """The place of each element among the values of its dtype of 16 bits, zero at 0."""
    bits = values.view(np.int16).astype(np.int32)
    return np.where(bits < 0, -(bits & 0x7FFF), bits)
