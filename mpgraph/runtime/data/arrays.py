"""Readers of numpy files: .npz, .npy, and folders of .npz."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mpgraph.errors import DataError
from mpgraph.runtime.data.spec import InputSpec
from mpgraph.runtime.data.stacked import keyed_feeds, sample_keys, stacked_feeds

__all__ = ["folder_feeds", "natural", "npy_feeds", "npz_feeds"]


def npz_feeds(path: Path, inputs: Sequence[InputSpec]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Feeds of an .npz whose keys are input names (samples along the first axis) or
    ``<sample>|<input>`` (each array one feed); only one feed is read at a time in the latter.

    Raises:
        DataError: Not an .npz, pickled, or arrays that do not fit.
    """
    try:
        archive = np.load(path, allow_pickle=False)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(str(path), f"is not a readable .npz: {error}") from error
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise DataError(str(path), "is not an .npz, although its name says so")
    with archive:
        names = list(archive.files)
        samples = sample_keys(names, inputs)
        arrays = _Readable(archive, path)
        if samples is not None:
            yield from keyed_feeds(arrays, samples, str(path))
        else:
            yield from stacked_feeds({name: arrays[name] for name in names}, inputs, str(path))


def npy_feeds(path: Path, inputs: Sequence[InputSpec]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Feeds of a .npy for a model of one required input; samples along the first axis.

    Raises:
        DataError: Not a .npy, pickled, or the model has not exactly one required input.
    """
    required = [spec for spec in inputs if spec.required]
    if len(required) != 1:
        names = ", ".join(repr(spec.name) for spec in required)
        raise DataError(
            str(path),
            f"a .npy fits a model of one input, this one has {len(required)}: {names}",
            "use an .npz whose keys are the input names",
        )
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataError(str(path), f"is not a readable .npy: {error}") from error
    yield from stacked_feeds({required[0].name: array}, required, str(path))


def folder_feeds(
    paths: Sequence[Path], inputs: Sequence[InputSpec]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The feeds of several .npz files, one after the other in natural order."""
    for path in sorted(paths, key=natural):
        yield from npz_feeds(path, inputs)


def natural(path: Path) -> tuple[tuple[bool, int, str], ...]:
    """Sort key that puts ``input_2`` before ``input_10``."""
    parts = re.split(r"(\d+)", path.name)
    return tuple((part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts)


class _Readable(dict[str, Any]):
    """The arrays of an archive, read when asked for, with a clear error for pickled ones."""

    def __init__(self, archive: Any, path: Path) -> None:
        super().__init__()
        self._archive = archive
        self._path = path

    def __missing__(self, key: str) -> Any:
        try:
            return self._archive[key]
        except (ValueError, OSError, zipfile.BadZipFile) as error:
            raise DataError(f"{self._path}, {key!r}", f"cannot be read: {error}") from error
