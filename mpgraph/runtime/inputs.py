"""The data of one model given to another, whose float inputs may have other dtypes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mpgraph import ir
from mpgraph.errors import DataError
from mpgraph.runtime.data import DataSet, InputSpec, input_specs, load_data
from mpgraph.runtime.float8 import FLOAT8

__all__ = ["as_inputs", "check_inputs", "data_as_inputs", "data_for"]

_ROUNDED = ir.FLOATS | FLOAT8


def as_inputs(feed: Mapping[str, Any], inputs: Sequence[InputSpec]) -> dict[str, Any]:
    """The feed of one model for another, which has inputs of the same names."""
    wanted = {spec.name: spec for spec in inputs}
    for name in feed:
        if name not in wanted:
            rule = f"has no input {name!r}, for which the data has values"
            raise DataError("second model", rule, "leave out what is a constant there")
    return {name: _as_input(value, wanted[name]) for name, value in feed.items()}


def data_as_inputs(data: DataSet, inputs: Sequence[InputSpec]) -> DataSet:
    """The data of one model for another, which has inputs of the same names."""

    def source() -> Iterator[tuple[str, Any]]:
        for index, feed in enumerate(data):
            yield f"{data.label}, sample {index}", as_inputs(feed, inputs)

    return replace(data, inputs=tuple(inputs), source=source)


def data_for(model: ir.Model, path: str, given: DataSet | None) -> DataSet | None:
    """The data for the inputs that a model has now, which may be lower than they were.

    Args:
        model: The model.
        path: A file, folder or script as for ``--data``; empty takes what is given.
        given: Data for the model as it was.

    Raises:
        DataError: The file cannot be read, or does not fit the model.
    """
    inputs = input_specs(model)
    if path:
        return load_data(path, inputs)
    return None if given is None else data_as_inputs(given, inputs)


def _as_input(value: Any, spec: InputSpec) -> Any:
    if isinstance(value, list):
        return [_as_input(item, spec) for item in value]
    if value is None or spec.dtype not in _ROUNDED:
        return value
    return value.astype(spec.numpy_dtype, copy=False)


def check_inputs(a: Sequence[InputSpec], b: Sequence[InputSpec]) -> None:
    """Check that data for a model with the inputs ``a`` can be given to one with ``b``.

    Raises:
        DataError: An input is missing, of another kind, or of another dtype that is no float.
    """
    by_name = {spec.name: spec for spec in b}
    for spec in a:
        other = by_name.get(spec.name)
        if other is None:
            if not spec.required:
                continue
            raise DataError("second model", f"has no input {spec.name!r}, which the first one has")
        both_float = spec.dtype in _ROUNDED and other.dtype in _ROUNDED
        if other.kind != spec.kind or (other.dtype != spec.dtype and not both_float):
            raise DataError("second model", f"has input {other}, the first one has {spec}")
    known = {spec.name for spec in a}
    for spec in b:
        if spec.required and spec.name not in known:
            raise DataError("second model", f"has input {spec}, which the first one has not")
