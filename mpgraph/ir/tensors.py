"""All tensors of a model, their bytes, and tensors computed from others when they are read."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import onnx_ir
from numpy.typing import NDArray
from onnx_ir import AttributeType, DataType

from mpgraph.errors import ModelFileError
from mpgraph.ir.scopes import graphs

__all__ = [
    "Replace",
    "Substitution",
    "all_tensors",
    "array_pieces",
    "derived_tensor",
    "external_bytes",
    "replace_tensors",
]

_TENSOR_TYPES = (AttributeType.TENSOR, AttributeType.TENSORS)
_PIECE_BYTES = 1 << 20


def all_tensors(model: onnx_ir.Model) -> Iterator[onnx_ir.TensorProtocol]:
    """Yields initializers and tensor attributes of all graphs and functions, repeats included."""
    for scope in graphs(model):
        for value in scope.graph.initializers.values():
            if value.const_value is not None:
                yield value.const_value
        for node in scope.graph:
            if node.attributes.data:
                yield from _attribute_tensors(node)
    for function in model.functions.values():
        yield from _attribute_tensors(function)


def _attribute_tensors(owner: onnx_ir.Node | onnx_ir.Function) -> list[onnx_ir.TensorProtocol]:
    """Returns the tensors in the attributes of a node, or in the default ones of a function."""
    return [
        tensor
        for attr in owner.attributes.data.values()
        if attr.type in _TENSOR_TYPES
        for tensor in _tensors_of(attr)
    ]


def derived_tensor(
    source: onnx_ir.TensorProtocol,
    convert: Callable[[NDArray[np.generic]], NDArray[np.generic]],
    dtype: DataType,
    *,
    shape: onnx_ir.Shape | None = None,
    name: str | None = None,
) -> onnx_ir.LazyTensor:
    """Returns a tensor that is computed from `source` each time it is read, and never kept.

    The file mapping that reading `source` opened is closed again, so that a chain of conversions
    holds one tensor at a time.

    Args:
        source: Tensor to convert.
        convert: Maps the array of `source` to an array of `dtype` and `shape`; it must not
            return a view of its argument.
        dtype: Type of the result.
        shape: Shape of the result; that of `source` by default.
        name: Name of the result; that of `source` by default.
    """

    def read() -> onnx_ir.TensorProtocol:
        array = convert(source.numpy())
        if isinstance(source, onnx_ir.ExternalTensor):
            source.release()
        return onnx_ir.Tensor(array, dtype=dtype, name=name or source.name)

    return onnx_ir.LazyTensor(
        read,
        dtype=dtype,
        shape=shape or onnx_ir.Shape(source.shape.numpy()),
        name=name or source.name,
        doc_string=source.doc_string,
    )


def external_bytes(tensor: onnx_ir.ExternalTensor) -> bytes:
    """Reads the bytes of an external tensor without leaving the file mapped."""
    if tensor.nbytes == 0:
        return b""
    buffer = io.BytesIO()
    tensor.tofile(buffer)
    return buffer.getvalue()


def array_pieces(tensor: onnx_ir.TensorProtocol) -> Iterator[NDArray[np.generic]]:
    """Yields the elements of a tensor in order, in flat pieces of about a megabyte.

    Data that lies in a file is read piece by piece into one buffer: take what is needed from a
    piece before the next step, and no more than a piece is in memory.
    """
    if isinstance(tensor, onnx_ir.ExternalTensor) and _is_plain(tensor.dtype) and tensor.size:
        yield from _file_pieces(tensor)
        return
    flat = tensor.numpy().reshape(-1)
    step = max(1, _PIECE_BYTES // max(1, flat.itemsize))
    for start in range(0, flat.size, step):
        yield flat[start : start + step]
    if isinstance(tensor, onnx_ir.ExternalTensor):
        tensor.release()


def _is_plain(dtype: DataType) -> bool:
    """Whether the file holds the elements as numpy does in memory."""
    return sys.byteorder == "little" and dtype.bitwidth >= 8 and dtype != DataType.STRING


def _file_pieces(tensor: onnx_ir.ExternalTensor) -> Iterator[NDArray[np.generic]]:
    buffer = np.empty(min(tensor.nbytes, _PIECE_BYTES), np.uint8)
    remaining = tensor.nbytes
    with Path(tensor.path).open("rb", buffering=0) as file:
        file.seek(tensor.offset or 0)
        while remaining:
            piece = buffer[:remaining]
            read = file.readinto(piece.data)
            if read != piece.size:
                raise ModelFileError(
                    str(tensor.path),
                    f"ends in the middle of {tensor.name!r}",
                    "export or download the data file again",
                )
            remaining -= read
            yield piece.view(tensor.dtype.numpy())


Replace = Callable[[onnx_ir.TensorProtocol], onnx_ir.TensorProtocol]
"""Returns what stands in the place of a tensor."""


def replace_tensors(model: onnx_ir.Model, replace: Replace) -> None:
    """Puts other tensors in the place of a model's, also in attributes and functions.

    Args:
        model: Changed in place; types and shapes of values are left as they are.
        replace: Returns the stand-in of a tensor, or the tensor itself to leave it. Called once
            for each tensor object, so that shared tensors stay shared.
    """
    substitution = Substitution(replace)
    for scope in graphs(model):
        for value in scope.graph.initializers.values():
            substitution.of_value(value)
        for node in scope.graph:
            substitution.of_attributes(node)
    for function in model.functions.values():
        substitution.of_attributes(function)


class Substitution:
    """Puts other tensors in the place of those that values and attributes hold.

    Attributes:
        undo: What puts the tensors back, one step for each that was replaced.
        metadata: Whether any stand-in has metadata.
    """

    def __init__(self, replace: Replace) -> None:
        self.undo: list[Callable[[], None]] = []
        self.metadata = False
        self._replace = replace
        self._stand_ins: dict[int, onnx_ir.TensorProtocol] = {}

    def of_value(self, value: onnx_ir.Value) -> None:
        """Replaces the tensor of an initializer."""
        tensor = value.const_value
        if tensor is not None and (new := self._stand_in(tensor)) is not tensor:
            self.undo.append(partial(setattr, value, "const_value", tensor))
            value.const_value = new

    def of_attributes(self, owner: onnx_ir.Node | onnx_ir.Function) -> None:
        """Replaces the tensors in the attributes of a node or function."""
        attributes = owner.attributes.data
        for name in [key for key, attr in attributes.items() if attr.type in _TENSOR_TYPES]:
            attr = owner.attributes[name]
            old = _tensors_of(attr)
            new = tuple(map(self._stand_in, old))
            if all(a is b for a, b in zip(old, new, strict=True)):
                continue
            self.undo.append(partial(owner.attributes.__setitem__, name, attr))
            value = new[0] if attr.type == AttributeType.TENSOR else new
            owner.attributes[name] = onnx_ir.Attr(
                name, attr.type, value, doc_string=attr.doc_string
            )

    def _stand_in(self, tensor: onnx_ir.TensorProtocol) -> onnx_ir.TensorProtocol:
        if id(tensor) not in self._stand_ins:
            new = self._stand_ins[id(tensor)] = self._replace(tensor)
            self.metadata |= bool(new.metadata_props)
        return self._stand_ins[id(tensor)]


def _tensors_of(attr: onnx_ir.Attr) -> tuple[onnx_ir.TensorProtocol, ...]:
    # attr.as_tensor() checks against a Protocol class, which takes 0.2 ms a tensor.
    if attr.value is None or attr.is_ref():
        return ()
    if attr.type == AttributeType.TENSOR:
        return (attr.value,)
    return tuple(attr.value) if attr.type == AttributeType.TENSORS else ()
