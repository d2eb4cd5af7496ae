"""Feeds out of named arrays: one array per sample and input, or samples along the first axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mpgraph.errors import DataError
from mpgraph.runtime.data.check import check_names, fit_array
from mpgraph.runtime.data.spec import InputSpec

__all__ = ["keyed_feeds", "sample_keys", "stacked_feeds"]


def sample_keys(
    names: Sequence[str], inputs: Sequence[InputSpec]
) -> dict[str, dict[str, str]] | None:
    """Group keys of the form ``<sample>|<input>`` by sample: sample -> input -> key.

    None when the keys are plain input names. A model whose input names hold a "|" themselves is
    told apart by that.
    """
    known = {spec.name for spec in inputs}
    if not names or all(name in known for name in names) or not all("|" in n for n in names):
        return None
    samples: dict[str, dict[str, str]] = {}
    for key in names:
        sample, _, name = key.partition("|")
        samples.setdefault(sample, {})[name] = key
    return samples


def keyed_feeds(
    arrays: Mapping[str, Any], samples: Mapping[str, Mapping[str, str]], where: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """One feed per sample, in numeric order where the samples are numbers."""
    for sample in sorted(samples, key=lambda text: (not text.isdigit(), text.zfill(12))):
        feed = {name: arrays[key] for name, key in samples[sample].items()}
        yield f"{where}, sample {sample}", feed


def stacked_feeds(
    arrays: Mapping[str, Any], inputs: Sequence[InputSpec], where: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Cut arrays whose first axis counts samples into feeds of the model's batch.

    The batch of an input is its first dimension where that is static, else 1; an array of one
    rank more than its input holds one feed per entry. All inputs must give the same number of
    feeds; a scalar that belongs to a scalar input goes into each feed.

    Raises:
        DataError: Names or dtypes do not fit, the first axis is no multiple of the batch, or
            inputs disagree about the number of feeds.
    """
    check_names(list(arrays), inputs, where)
    by_name = {spec.name: spec for spec in inputs}
    stacks = {
        name: fit_array(array, by_name[name], f"{where}, {name!r}")
        for name, array in arrays.items()
    }
    counts = {name: _count(array, by_name[name], where) for name, array in stacks.items()}
    numbers = {name: count for name, count in counts.items() if count is not None}
    if len(set(numbers.values())) > 1:
        text = ", ".join(f"{name!r} {count}" for name, count in numbers.items())
        raise DataError(
            where,
            f"inputs disagree about the number of samples: {text}",
            "the first axis is cut to the model's batch (1 where it is symbolic); name the arrays "
            "'<sample>|<input>' to give each feed exactly",
        )
    total = next(iter(numbers.values()), 1)
    for index in range(total):
        feed = {
            name: array if counts[name] is None else _cut(array, by_name[name], index)
            for name, array in stacks.items()
        }
        yield f"{where}, sample {index}", feed


def _count(array: np.ndarray[Any, Any], spec: InputSpec, where: str) -> int | None:
    if spec.shape is None:
        return 1
    rank = len(spec.shape)
    if array.ndim == rank + 1:
        return len(array)
    if rank == 0 and array.ndim == 0:
        return None
    if array.ndim != rank:
        raise DataError(
            where, f"input {spec} wants rank {rank}, got {array.dtype}{list(array.shape)}"
        )
    batch = _batch(spec)
    if batch < 1 or len(array) % batch:
        raise DataError(
            where,
            f"input {spec} has batch {batch}, and {len(array)} samples are no multiple of it",
        )
    return len(array) // batch


def _cut(array: np.ndarray[Any, Any], spec: InputSpec, index: int) -> np.ndarray[Any, Any]:
    if spec.shape is None:
        return array
    if array.ndim == len(spec.shape) + 1:
        return np.asarray(array[index])
    batch = _batch(spec)
    return array[index * batch : (index + 1) * batch]


def _batch(spec: InputSpec) -> int:
    first = spec.shape[0] if spec.shape else 1
    return first if isinstance(first, int) else 1
