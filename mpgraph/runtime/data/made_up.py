"""Random feeds, for when a user asks for them; what was assumed stands in the label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mpgraph import ir
from mpgraph.errors import DataError
from mpgraph.runtime.data.spec import InputSpec
from mpgraph.runtime.float8 import FLOAT8

__all__ = ["random_feeds", "random_label"]

# The first axis is the batch by custom; elsewhere 1 would hide too much.
_BATCH, _LENGTH = 1, 16


def random_label(seed: int, dims: Mapping[str, int]) -> str:
    """ "random data (seed 0; batch=1, length=16)"."""
    assumed = ", ".join(f"{name}={size}" for name, size in dims.items())
    return f"random data (seed {seed}{'; ' if assumed else ''}{assumed})"


def random_feeds(
    inputs: Sequence[InputSpec], seed: int, shapes: Mapping[str, Sequence[int]]
) -> tuple[dict[str, int], Iterator[tuple[str, dict[str, Any]]]]:
    """The sizes assumed for symbolic dimensions, and an iterator of one feed.

    Floats are drawn from the standard normal distribution; integers and booleans are 0 or 1,
    which are valid as token ids, masks and flags alike.

    Raises:
        DataError: A given shape does not fit, or an input is a sequence, an optional, of unknown
            rank, or of a dtype without a random source.
    """
    dims: dict[str, int] = {}
    resolved = {
        spec.name: _shape(spec, shapes.get(spec.name), dims) for spec in inputs if spec.required
    }

    def feeds() -> Iterator[tuple[str, dict[str, Any]]]:
        generator = np.random.default_rng(seed)
        feed = {
            spec.name: _array(spec, resolved[spec.name], generator)
            for spec in inputs
            if spec.required
        }
        yield "random data", feed

    return dims, feeds()


def _shape(spec: InputSpec, given: Sequence[int] | None, dims: dict[str, int]) -> tuple[int, ...]:
    if spec.kind != "tensor":
        raise DataError("random data", f"cannot be made up for input {spec}")
    if spec.shape is None:
        if given is None:
            raise DataError(
                "random data",
                f"input {spec} has no known rank",
                "give its shape with --input-shapes",
            )
        return tuple(given)
    if given is not None and len(given) != len(spec.shape):
        raise DataError("random data", f"shape {list(given)} does not fit input {spec}")
    sizes: list[int] = []
    for axis, dim in enumerate(spec.shape):
        if given is not None:
            size = given[axis]
        elif isinstance(dim, int):
            size = dim
        else:
            size = dims.get(dim or "", _BATCH if axis == 0 else _LENGTH)
        if not isinstance(dim, int):
            known = dims.setdefault(dim or f"{spec.name}[{axis}]", size)
            if dim and known != size:
                raise DataError(
                    "random data", f"dimension {dim!r} would be both {known} and {size}"
                )
        sizes.append(size)
    return tuple(sizes)


def _array(spec: InputSpec, shape: tuple[int, ...], generator: np.random.Generator) -> Any:
    if spec.dtype in ir.FLOATS or spec.dtype in FLOAT8:
        return generator.standard_normal(shape).astype(spec.numpy_dtype)
    if spec.dtype == ir.DataType.BOOL or spec.dtype.is_integer():
        return generator.integers(0, 2, shape).astype(spec.numpy_dtype)
    raise DataError("random data", f"cannot be made up for input {spec}")
