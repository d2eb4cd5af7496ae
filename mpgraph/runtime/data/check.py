"""Checks that a feed fits the inputs of a model; nothing is converted on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from mpgraph import ir
from mpgraph.errors import DataError
from mpgraph.runtime.data.spec import InputSpec
from mpgraph.runtime.float8 import FLOAT8

__all__ = ["check_feed", "check_names", "fit_array"]


def check_feed(feed: object, inputs: Sequence[InputSpec], where: str) -> dict[str, Any]:
    """The feed as a dict of arrays of exactly the dtypes and ranks that ``inputs`` ask for.

    Raises:
        DataError: Not a mapping; a name is missing or unknown; a dtype, rank or static dimension
            differs. Symbolic dimensions fit any size, as in onnxruntime.
    """
    if not isinstance(feed, Mapping):
        raise DataError(where, f"a feed maps input names to arrays, got {type(feed).__name__}")
    check_names(list(feed), inputs, where)
    by_name = {spec.name: spec for spec in inputs}
    return {name: _fit(value, by_name[name], where) for name, value in feed.items()}


def check_names(names: Sequence[object], inputs: Sequence[InputSpec], where: str) -> None:
    """Check that ``names`` are inputs, and that all required inputs are among them.

    Raises:
        DataError: Naming the input, the nearest names, and all inputs of the model.
    """
    known = [spec.name for spec in inputs]
    for name in names:
        if name not in known:
            folded = {other.casefold(): other for other in known}
            near = get_close_matches(str(name).casefold(), list(folded), n=1)
            wanted = _all_of(inputs)
            hint = f"did you mean {folded[near[0]]!r}? {wanted}" if near else wanted
            raise DataError(where, f"the model has no input {name!r}", hint)
    for spec in inputs:
        if spec.required and spec.name not in names:
            got = ", ".join(repr(name) for name in names) or "nothing"
            raise DataError(where, f"input {spec} is missing, got {got}", _all_of(inputs))


def _all_of(inputs: Sequence[InputSpec]) -> str:
    return f"the model's inputs are {'; '.join(map(str, inputs)) or '(none)'}"


def fit_array(value: object, spec: InputSpec, where: str) -> np.ndarray[Any, Any]:
    """``value`` as an array of the dtype of ``spec``, whatever its shape.

    Only what loses nothing is done: arrays of other libraries are viewed as numpy arrays, text
    becomes an object array, and the records of one or two bytes as which .npy files store float8
    and bfloat16 are read as that.

    Raises:
        DataError: Not an array, or of another dtype.
    """
    if not hasattr(value, "__array__"):
        raise DataError(where, f"input {spec} wants a numpy array, got {type(value).__name__}")
    array = np.asarray(value)
    wanted = spec.numpy_dtype
    if array.dtype == wanted or spec.dtype == ir.DataType.UNDEFINED:
        return array
    if spec.dtype == ir.DataType.STRING and array.dtype.kind in "UO":
        return array.astype(object)
    is_foreign = spec.dtype == ir.DataType.BFLOAT16 or spec.dtype in FLOAT8
    if is_foreign and array.dtype == np.dtype(f"V{wanted.itemsize}"):
        return array.view(wanted)
    raise DataError(
        where,
        f"input {spec} wants {ir.dtype_name(spec.dtype)}, got {array.dtype} of shape "
        f"{list(array.shape)}",
        f"convert it with .astype({ir.dtype_name(spec.dtype)!r}) if that is what you mean",
    )


def _fit(value: object, spec: InputSpec, where: str) -> Any:
    if spec.kind == "optional" and value is None:
        return None
    if isinstance(value, (list, tuple)) and spec.kind != "tensor":
        return [_fit_tensor(item, spec, f"{where}, element {i}") for i, item in enumerate(value)]
    if spec.kind == "sequence":
        raise DataError(where, f"input {spec} wants a list of arrays, got {type(value).__name__}")
    return _fit_tensor(value, spec, where)


def _fit_tensor(value: object, spec: InputSpec, where: str) -> np.ndarray[Any, Any]:
    array = fit_array(value, spec, where)
    if spec.shape is None:
        return array
    if array.ndim != len(spec.shape):
        raise DataError(where, f"input {spec} wants rank {len(spec.shape)}, {_got(array)}")
    for axis, (dim, size) in enumerate(zip(spec.shape, array.shape, strict=True)):
        if isinstance(dim, int) and dim != size:
            raise DataError(where, f"input {spec} wants {dim} on axis {axis}, {_got(array)}")
    return array


def _got(array: np.ndarray[Any, Any]) -> str:
    return f"got {array.dtype}{list(array.shape)}"
