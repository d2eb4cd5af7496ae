"""Casting what a model is given: floats to one dtype, everything else as it is."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from mpgraph import ir
from mpgraph.errors import PolicyTypeError, PolicyValueError
from mpgraph.policy.grammar import FLOAT_NAMES

__all__ = ["cast_floats", "float_name"]


def cast_floats(x: Any, dtype: str) -> Any:
    """Return a structure with its float arrays cast.

    Args:
        x: An array of any shape, or lists, tuples, named tuples and dicts of them, nested. What has
            `__array__` (tensors of frameworks) is read as an array if it holds floats. Integers,
            bools, complex numbers, strings and Python numbers are returned as they are.
        dtype: Name of a float dtype. Rounding is to nearest even; what is beyond its range becomes
            infinite.
    """
    if isinstance(x, dict):
        return _like_dict(x, dtype)
    if isinstance(x, list | tuple):
        items = [cast_floats(item, dtype) for item in x]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    if not hasattr(x, "__array__"):
        return x
    array = x if isinstance(x, np.ndarray | np.generic) else np.asarray(x)
    if not _is_float(array.dtype):
        return x
    wanted = ir.parse_dtype(dtype).numpy()
    if array.dtype == wanted:
        return x
    with np.errstate(over="ignore"):
        return array.astype(wanted)


def float_name(dtype: Any) -> str:
    """Return the name of a float dtype: of its name, a numpy or ml_dtypes type, or a numpy dtype.

    Raises:
        PolicyTypeError: It is no dtype.
        PolicyValueError: It is not one of float16, bfloat16, float32, float64.
    """
    accepted = f"accepted: {', '.join(FLOAT_NAMES)}"
    if isinstance(dtype, str):
        name = dtype
    else:
        try:
            name = np.dtype(dtype).name
        except TypeError as error:
            raise PolicyTypeError("dtype", f"{dtype!r} is no dtype", accepted) from error
    if name not in FLOAT_NAMES:
        raise PolicyValueError("dtype", f"{name!r} is not a float dtype", accepted)
    return name


def _like_dict(x: dict[Any, Any], dtype: str) -> dict[Any, Any]:
    copied = x.copy()
    for key, value in x.items():
        copied[key] = cast_floats(value, dtype)
    return copied


def _is_float(dtype: np.dtype[Any]) -> bool:
    if dtype.kind == "V":
        return dtype.names is None and _is_small_float(dtype)
    return dtype.kind == "f"


def _is_small_float(dtype: np.dtype[Any]) -> bool:
    """Whether it is one of the floats of ml_dtypes, which numpy takes for raw bytes."""
    try:
        ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    except (ValueError, TypeError, KeyError):
        return False
    return True
