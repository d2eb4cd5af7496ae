"""Reads a model file without its weights: what is large in it is stepped over, never touched."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

from google.protobuf.message import DecodeError
from onnx import GraphProto, ModelProto, TensorProto

from mpgraph.errors import ModelFileError
from mpgraph.ir.files import format_of, read_proto

__all__ = ["parse_outline", "read_outline"]

_Content = bytes | memoryview
_Field = tuple[int, int, int, int]  # its number, where it starts, where its content starts, its end

_WEIGHTS = frozenset(
    {
        TensorProto.RAW_DATA_FIELD_NUMBER,
        TensorProto.FLOAT_DATA_FIELD_NUMBER,
        TensorProto.INT32_DATA_FIELD_NUMBER,
        TensorProto.INT64_DATA_FIELD_NUMBER,
        TensorProto.DOUBLE_DATA_FIELD_NUMBER,
        TensorProto.UINT64_DATA_FIELD_NUMBER,
        TensorProto.STRING_DATA_FIELD_NUMBER,
    }
)
_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5


def read_outline(path: Path) -> ModelProto:
    """Reads a model file; initializers of the main graph come without their data.

    Raises:
        ModelFileError: The file is missing, unreadable, or no ONNX model.
    """
    if format_of(path) != "protobuf" or not path.is_file() or path.stat().st_size == 0:
        return read_proto(path)
    try:
        with (
            path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
            memoryview(mapped) as view,
        ):
            return _parsed(view, str(path))
    except OSError as error:
        raise ModelFileError(str(path), f"cannot be read: {error.strerror or error}") from error


def parse_outline(content: bytes) -> ModelProto:
    """The same for the bytes of a model.

    Raises:
        ModelFileError: They hold no ONNX model.
    """
    return _parsed(content, "the given bytes")


def _parsed(content: _Content, where: str) -> ModelProto:
    model = ModelProto()
    try:
        for number, start, inner, end in _fields(content, 0, len(content)):
            if number == ModelProto.GRAPH_FIELD_NUMBER:
                _read_graph(content, inner, end, model.graph)
            else:
                model.MergeFromString(bytes(content[start:end]))
    except (DecodeError, IndexError) as error:
        raise ModelFileError(where, "holds no ONNX model, or a damaged one") from error
    if not model.HasField("graph") or model.ir_version == 0:
        raise ModelFileError(where, "holds no ONNX model")
    return model


def _read_graph(content: _Content, start: int, end: int, graph: GraphProto) -> None:
    rest = bytearray()
    for number, first, inner, last in _fields(content, start, end):
        if number == GraphProto.INITIALIZER_FIELD_NUMBER:
            _read_tensor(content, inner, last, graph.initializer.add())
        else:
            rest += content[first:last]
    graph.MergeFromString(bytes(rest))


def _read_tensor(content: _Content, start: int, end: int, tensor: TensorProto) -> None:
    kept = bytearray()
    for number, first, _, last in _fields(content, start, end):
        if number not in _WEIGHTS:
            kept += content[first:last]
    tensor.MergeFromString(bytes(kept))


def _fields(content: _Content, start: int, end: int) -> Iterator[_Field]:
    """The fields of a message. (Wire format: protobuf.dev/programming-guides/encoding.)"""
    at = start
    while at < end:
        tag, inner = _varint(content, at)
        kind = tag & 7
        if kind == _VARINT:
            last = _varint(content, inner)[1]
        elif kind == _EIGHT_BYTES:
            last = inner + 8
        elif kind == _FOUR_BYTES:
            last = inner + 4
        elif kind == _LENGTH:
            length, inner = _varint(content, inner)
            last = inner + length
        else:
            raise IndexError("a field of an unknown kind")
        if last > end:
            raise IndexError("a field that goes beyond its message")
        yield tag >> 3, at, inner, last
        at = last


def _varint(content: _Content, at: int) -> tuple[int, int]:
    """A number of 7 bits per byte, the lowest first, and where what follows it starts."""
    number = shift = 0
    while True:
        byte = content[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7
