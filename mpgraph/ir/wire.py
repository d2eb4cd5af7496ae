"""Writes a model with embedded weights, one tensor at a time, in protobuf's wire format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import BinaryIO

import onnx_ir
from onnx import GraphProto, ModelProto, TensorProto

from mpgraph.ir.tensor_writer import write_tensor

__all__ = ["EmbeddedModel"]


class EmbeddedModel:
    """A model file in the making: its skeleton as a proto, its initializers still as tensors.

    A protobuf message is the concatenation of its fields, and the length of a nested message
    stands before it; with the sizes of the tensors known, the graph is written without ever
    being held as a whole. (Wire format: protobuf.dev/programming-guides/encoding.)
    """

    def __init__(
        self, proto: ModelProto, streamed: Sequence[onnx_ir.TensorProtocol | None]
    ) -> None:
        """Takes `proto` apart.

        Args:
            proto: The model; consumed.
            streamed: For each initializer of the main graph the tensor whose data is written
                later, or None when the initializer's proto holds its data.
        """
        self._initializers: list[tuple[bytes, onnx_ir.TensorProtocol | None]] = []
        self._size = 0
        for initializer, tensor in zip(proto.graph.initializer, streamed, strict=True):
            if tensor is not None:
                initializer.ClearField("external_data")
                initializer.ClearField("data_location")
            header = initializer.SerializeToString(deterministic=True)
            length = len(header)
            if tensor is not None:
                header += _key(TensorProto.RAW_DATA_FIELD_NUMBER, tensor.nbytes)
                length = len(header) + tensor.nbytes
            header = _key(GraphProto.INITIALIZER_FIELD_NUMBER, length) + header
            self._initializers.append((header, tensor))
            self._size += len(header) + (0 if tensor is None else tensor.nbytes)
        del proto.graph.initializer[:]
        self._graph = proto.graph.SerializeToString(deterministic=True)
        proto.ClearField("graph")
        self._model = proto.SerializeToString(deterministic=True)

    @property
    def size(self) -> int:
        """Bytes of the graph message; the model's own fields are tiny beside it."""
        return len(self._graph) + self._size

    def write(self, file: BinaryIO, written: Callable[[int], None]) -> None:
        """Writes the file; calls `written(bytes)` after each streamed tensor."""
        file.write(self._model)
        file.write(_key(ModelProto.GRAPH_FIELD_NUMBER, self.size))
        file.write(self._graph)
        for header, tensor in self._initializers:
            file.write(header)
            if tensor is not None:
                write_tensor(file, tensor)
                written(tensor.nbytes)


def _key(field: int, length: int) -> bytes:
    """The tag of a length-delimited field and its length."""
    return _varint(field << 3 | 2) + _varint(length)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
