"""Reads a model file into a proto; every way in which that can fail has its own clear text."""

from __future__ import annotations

import mmap
import stat
from pathlib import Path

import onnx
import onnx.serialization
from google.protobuf.message import DecodeError

from mpgraph.errors import ModelFileError

__all__ = ["PROTOBUF_LIMIT", "format_of", "read_proto"]

PROTOBUF_LIMIT = 2**31 - 1
"""Bytes that one protobuf message can hold."""

_FIRST_TAG = b"\x08"  # field 1, ir_version: what every exporter writes first


def format_of(path: Path) -> str:
    """Returns "protobuf", "textproto", "json" or "onnxtxt", told by the extension as onnx does."""
    found = onnx.serialization.registry.get_format_from_file_extension(path.suffix)
    return found or "protobuf"


def read_proto(path: Path) -> onnx.ModelProto:
    """Reads a model file; external data stays on disk.

    Raises:
        ModelFileError: The file is missing, no regular file, unreadable, empty, over 2 GiB,
            truncated, or no ONNX model.
    """
    size = _checked_size(path)
    try:
        return _parsed(path, size)
    except OSError as error:
        raise ModelFileError(str(path), f"cannot be read: {error.strerror or error}") from error


def _checked_size(path: Path) -> int:
    try:
        status = path.stat()
    except FileNotFoundError:
        raise ModelFileError(str(path), "no such file", "check the path") from None
    except OSError as error:
        raise ModelFileError(str(path), f"cannot be read: {error.strerror or error}") from error
    if stat.S_ISDIR(status.st_mode):
        raise ModelFileError(str(path), "is a directory", "give the .onnx file inside it")
    if not stat.S_ISREG(status.st_mode):
        raise ModelFileError(str(path), "is not a regular file")
    if status.st_size == 0:
        raise ModelFileError(str(path), "is empty", "download or export the model again")
    return status.st_size


def _parsed(path: Path, size: int) -> onnx.ModelProto:
    format_ = format_of(path)
    if format_ != "protobuf":
        return _parsed_text(path, format_)
    if size > PROTOBUF_LIMIT:
        raise ModelFileError(
            str(path),
            "is larger than 2 GiB, which no ONNX file can be",
            "keep the weights in external data",
        )
    proto = onnx.ModelProto()
    # Mapped, so that the bytes of the file are never held beside the parsed model.
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        starts_like_onnx = mapped[:1] == _FIRST_TAG
        with memoryview(mapped) as view:
            try:
                proto.ParseFromString(view)
            except DecodeError:
                raise _not_onnx(path, starts_like_onnx) from None
    if not proto.HasField("graph") or proto.ir_version == 0:
        raise _not_onnx(path, starts_like_onnx)
    return proto


def _parsed_text(path: Path, format_: str) -> onnx.ModelProto:
    try:
        proto = onnx.load(path, format=format_, load_external_data=False)
    except OSError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise ModelFileError(str(path), f"is not ONNX in {format_} format: {reason}") from error
    if not proto.HasField("graph"):
        raise ModelFileError(str(path), "is not an ONNX model: it has no graph")
    return proto


def _not_onnx(path: Path, starts_like_onnx: bool) -> ModelFileError:
    if starts_like_onnx:
        return ModelFileError(
            str(path), "is a truncated or damaged ONNX file", "download or export the model again"
        )
    return ModelFileError(str(path), "is not an ONNX file", "give a model exported as .onnx")
