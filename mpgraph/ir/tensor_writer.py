"""Writes the bytes of one tensor to a file, without a copy where the array can be written as is."""

from __future__ import annotations

import sys
from typing import BinaryIO

import numpy as np
import onnx_ir

from mpgraph.errors import CheckError

__all__ = ["write_tensor"]


def write_tensor(file: BinaryIO, tensor: onnx_ir.TensorProtocol) -> None:
    """Writes exactly `tensor.nbytes` bytes at the file's position, little endian and packed.

    A lazy tensor is evaluated here and its result dropped again; an external tensor is copied
    from file to file.

    Raises:
        CheckError: The tensor holds another number of bytes than its dtype and shape say.
        OSError: The file cannot be written, or the source cannot be read.
    """
    source = tensor
    while isinstance(source, onnx_ir.LazyTensor) and not source.cache:
        source = source.raw()
    if source.dtype != tensor.dtype or source.nbytes != tensor.nbytes:
        raise CheckError(
            f"tensor {tensor.name!r}",
            f"is declared {tensor.dtype}{list(tensor.shape.numpy())} but evaluates to"
            f" {source.dtype}{list(source.shape.numpy())}",
        )
    if source.nbytes == 0:
        return
    if isinstance(source, onnx_ir.ExternalTensor):
        source.tofile(file)
    elif source.dtype.bitwidth < 8 or sys.byteorder != "little":
        file.write(source.tobytes())
    else:
        array = np.ascontiguousarray(source.numpy())
        file.write(array.reshape(-1).view(np.uint8).data)
