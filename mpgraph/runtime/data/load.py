"""From what a user gives as ``data`` to a data set for a model."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from mpgraph.errors import DataError
from mpgraph.runtime.data.arrays import folder_feeds, npy_feeds, npz_feeds
from mpgraph.runtime.data.dataset import DataSet
from mpgraph.runtime.data.made_up import random_feeds, random_label
from mpgraph.runtime.data.polygraphy import polygraphy_feeds
from mpgraph.runtime.data.python import iterable_source, reader_source
from mpgraph.runtime.data.script import DEFAULT_FUNCTION, script_feeds, script_function
from mpgraph.runtime.data.spec import InputSpec
from mpgraph.runtime.data.tensor_files import data_set_folders, tensor_file_feeds

__all__ = ["FORMS", "load_data"]

FORMS = (
    ".npz, .npy, a folder of .npz, a folder of test_data_set_*, Polygraphy's .json, "
    "script.py[:function], random[:seed]"
)


def load_data(
    source: object,
    inputs: Sequence[InputSpec],
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    samples: int | None = None,
) -> DataSet:
    """Open data for a model.

    Args:
        source: A path or text in one of ``FORMS``; or a dict (one feed), an iterable of dicts,
            an object with ``get_next()``, or a DataSet.
        inputs: What the model wants, see ``input_specs``.
        shapes: Shapes of inputs for random data.
        samples: Use at most so many feeds.

    Returns:
        A data set whose first feed fits the model; later ones are checked as they are read.

    Raises:
        DataError: The source is of no known form or unreadable, or its first feed does not fit.
    """
    if samples is not None and samples < 1:
        raise DataError("samples", f"must be at least 1, got {samples}")
    if isinstance(source, (str, os.PathLike)):
        data = _from_text(str(source), tuple(inputs), shapes or {}, samples)
    else:
        data = _from_object(source, tuple(inputs), samples)
    data.first()
    return data


def _from_object(source: object, inputs: tuple[InputSpec, ...], samples: int | None) -> DataSet:
    label = "data"
    if isinstance(source, DataSet):
        return DataSet(
            source.label, inputs, source.source, source.random, samples or source.samples
        )
    if isinstance(source, Mapping):
        return DataSet(label, inputs, lambda: [(label, source)], samples=samples)
    if hasattr(source, "get_next"):
        return DataSet(label, inputs, reader_source(source, label), samples=samples)
    if isinstance(source, Iterable) and not hasattr(source, "__array__"):
        return DataSet(label, inputs, iterable_source(source, label), samples=samples)
    raise DataError(
        label,
        f"cannot be read from {type(source).__name__}",
        f"give a dict, an iterable of dicts, an object with get_next(), or one of: {FORMS}",
    )


def _from_text(
    text: str,
    inputs: tuple[InputSpec, ...],
    shapes: Mapping[str, Sequence[int]],
    samples: int | None,
) -> DataSet:
    path = Path(text)
    if not path.exists():
        kind, _, seed = text.partition(":")
        if kind == "random":
            return _random(text, seed, inputs, shapes)
        script, _, name = text.rpartition(".py:")
        if script:
            return _script(Path(f"{script}.py"), name, inputs, samples)
        raise DataError(text, "does not exist", f"data can be {FORMS}")
    if path.is_dir():
        return _folder(path, inputs, samples)
    if path.suffix == ".npz":
        return DataSet(text, inputs, lambda: npz_feeds(path, inputs), samples=samples)
    if path.suffix == ".npy":
        return DataSet(text, inputs, lambda: npy_feeds(path, inputs), samples=samples)
    if path.suffix == ".json":
        return DataSet(text, inputs, lambda: polygraphy_feeds(path), samples=samples)
    if path.suffix == ".py":
        return _script(path, DEFAULT_FUNCTION, inputs, samples)
    raise DataError(text, f"is of no known form ({path.suffix or 'no suffix'})", f"known: {FORMS}")


def _folder(path: Path, inputs: tuple[InputSpec, ...], samples: int | None) -> DataSet:
    archives = list(path.glob("*.npz"))
    data_sets = data_set_folders(path)
    if archives and data_sets:
        raise DataError(
            str(path), "holds both .npz files and test_data_set_* folders", "name one of them"
        )
    if archives:
        return DataSet(str(path), inputs, lambda: folder_feeds(archives, inputs), samples=samples)
    if data_sets:
        return DataSet(str(path), inputs, lambda: tensor_file_feeds(path, inputs), samples=samples)
    raise DataError(str(path), "holds neither .npz files nor test_data_set_* folders")


def _script(path: Path, name: str, inputs: tuple[InputSpec, ...], samples: int | None) -> DataSet:
    function = script_function(path, name)
    return DataSet(
        f"{path}:{name}", inputs, lambda: script_feeds(path, name, function), samples=samples
    )


def _random(
    text: str, seed: str, inputs: tuple[InputSpec, ...], shapes: Mapping[str, Sequence[int]]
) -> DataSet:
    if seed and not seed.isdigit():
        raise DataError(text, f"has the seed {seed!r}, which is no number", "write random:7")
    unknown = set(shapes) - {spec.name for spec in inputs}
    if unknown:
        raise DataError(text, f"has a shape for {sorted(unknown)[0]!r}, which is no input")
    number = int(seed or 0)
    dims, _ = random_feeds(inputs, number, shapes)
    return DataSet(
        random_label(number, dims),
        inputs,
        lambda: random_feeds(inputs, number, shapes)[1],
        random=True,
    )
