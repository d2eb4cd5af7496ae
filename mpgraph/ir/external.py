"""Checks of external data, made before a byte of it is read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path, PureWindowsPath

from onnx import TensorProto
from onnx_ir import DataType

from mpgraph.errors import ModelFileError

__all__ = ["check_external_data", "location_of", "outside_reason"]


def check_external_data(
    tensors: Iterable[TensorProto], folder: Path, where: str
) -> frozenset[Path]:
    """Checks that the data of external tensors lies in `folder`, is there, and is long enough.

    onnx-ir checks some of this when it reads a tensor, but nothing at all for a model given by a
    bare file name, whose folder is "".

    Returns:
        The data files that the tensors refer to.

    Raises:
        ModelFileError: A location is empty, absolute, leaves the folder, or goes through a
            symbolic link; a file is missing or too short; an offset or length is nonsense.
    """
    sizes: dict[str, int] = {}
    for tensor in tensors:
        if tensor.data_location != TensorProto.EXTERNAL:
            continue
        entries = {entry.key: entry.value for entry in tensor.external_data}
        location = entries.get("location", "")
        if location not in sizes:
            sizes[location] = _size(folder, location, where)
        _check_range(tensor, entries, sizes[location], where)
    return frozenset(folder / location for location in sizes)


def location_of(tensor: TensorProto) -> str | None:
    """The location of the data of an external tensor; None for other tensors."""
    if tensor.data_location != TensorProto.EXTERNAL:
        return None
    entries = (entry.value for entry in tensor.external_data if entry.key == "location")
    return next(entries, "")


def outside_reason(location: str, folder: Path) -> str:
    """Why a location does not lie in the folder of the model for certain; empty where it does."""
    text = f"external data {location!r}"
    if Path(location).is_absolute() or PureWindowsPath(location).is_absolute():
        return f"{text} is an absolute path, which is refused"
    parts = Path(location).parts
    if ".." in parts or ".." in PureWindowsPath(location).parts:
        return f"{text} leaves the folder of the model, refused"
    path = folder
    for part in parts:
        path = path / part
        if path.is_symlink():
            return f"{text} goes through a symbolic link, which is refused"
    return ""


def _size(folder: Path, location: str, where: str) -> int:
    text = f"external data {location!r}"
    hint = "keep the data file in the folder of the model"
    if not location:
        raise ModelFileError(where, "an external tensor names no location", "export it again")
    outside = outside_reason(location, folder)
    if outside:
        raise ModelFileError(where, outside, hint)
    path = folder / location
    try:
        status = path.stat()
    except FileNotFoundError:
        raise ModelFileError(
            where, f"{text} is missing", "copy the data file beside the model"
        ) from None
    except OSError as error:
        raise ModelFileError(where, f"{text} cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode):
        raise ModelFileError(where, f"{text} is not a regular file", hint)
    if status.st_nlink > 1:
        raise ModelFileError(
            where,
            f"{text} has several hard links, which onnx-ir refuses",
            "make a real copy of the data file",
        )
    if not os.access(path, os.R_OK):
        raise ModelFileError(where, f"{text} cannot be read: permission denied")
    return status.st_size


def _check_range(tensor: TensorProto, entries: dict[str, str], size: int, where: str) -> None:
    text = f"external tensor {tensor.name!r}"
    try:
        offset = int(entries.get("offset") or 0)
        length = int(entries["length"]) if entries.get("length") else None
        dtype = DataType(tensor.data_type)
        bits = dtype.bitwidth
    except (ValueError, TypeError):
        raise ModelFileError(
            where, f"{text} has an offset, length or dtype that makes no sense", "export it again"
        ) from None
    elements = 1
    for dim in tensor.dims:
        elements *= dim
    expected = -(-elements * bits // 8)
    if offset < 0 or elements < 0 or length not in (None, expected):
        raise ModelFileError(
            where,
            f"{text} of {expected} bytes is stored with offset {offset} and length {length}",
            "export it again",
        )
    if offset + expected > size:
        raise ModelFileError(
            where,
            f"external data {entries['location']!r} is too short: {text} ends at byte"
            f" {offset + expected}, the file has {size}",
            "download or export the data file again",
        )
