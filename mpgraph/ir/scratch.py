"""A temporary file that holds computed tensors in the place of memory."""

from __future__ import annotations

import tempfile
import threading
import weakref
from typing import BinaryIO

import onnx_ir
from onnx import TensorProto
from onnx_ir import DataType, serde

from mpgraph.errors import OutputError

__all__ = ["Scratch"]

_KEPT_BYTES = 1 << 14


class Scratch:
    """Holds tensors that a pass has computed, until the model that has them is written.

    The file has no name where the system allows that, and is gone with the last of its tensors.
    """

    def __init__(self) -> None:
        self._file: BinaryIO | None = None
        self._end = 0
        self._lock = threading.Lock()

    def hold(self, tensor: onnx_ir.TensorProtocol) -> onnx_ir.TensorProtocol:
        """Returns a tensor of the same content that is read from the file each time.

        A tensor below 16 KiB, or of strings, is returned as it is.

        Raises:
            OutputError: The temporary folder cannot be written.
        """
        if tensor.dtype == DataType.STRING or tensor.nbytes < _KEPT_BYTES:
            return tensor
        content = tensor.tobytes()
        dtype, dims = tensor.dtype, tuple(tensor.shape.numpy())
        start, size = self._append(content), len(content)

        def read() -> onnx_ir.TensorProtocol:
            proto = TensorProto(data_type=dtype.value, dims=dims, raw_data=self._read(start, size))
            return serde.TensorProtoTensor(proto)

        return onnx_ir.LazyTensor(read, dtype=dtype, shape=onnx_ir.Shape(dims), name=tensor.name)

    def _append(self, content: bytes) -> int:
        with self._lock:
            try:
                file = self._opened()
                file.seek(self._end)
                file.write(content)
            except OSError as error:
                raise OutputError(
                    tempfile.gettempdir(),
                    f"a temporary file cannot be written: {error.strerror or error}",
                    "free some space, or name another folder in TMPDIR",
                ) from error
            start, self._end = self._end, self._end + len(content)
        return start

    def _read(self, start: int, size: int) -> bytes:
        with self._lock:
            file = self._opened()
            file.seek(start)
            return file.read(size)

    def _opened(self) -> BinaryIO:
        if self._file is None:
            self._file = _new_file()
            weakref.finalize(self, self._file.close)
        return self._file


def _new_file() -> BinaryIO:
    return tempfile.TemporaryFile(prefix="mpgraph-")
