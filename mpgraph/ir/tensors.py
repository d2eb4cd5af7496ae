"""All tensors of a model, their bytes, and tensors computed from others when they are read."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import onnx_ir
from numpy.typing import NDArray
from onnx_ir import AttributeType, DataType

from mpgraph.ir.scopes import graphs

__all__ = ["all_tensors", "derived_tensor", "external_bytes", "replace_tensors", "replaced_tensors"]

_TENSOR_TYPES = (AttributeType.TENSOR, AttributeType.TENSORS)


def all_tensors(model: onnx_ir.Model) -> Iterator[onnx_ir.TensorProtocol]:
    """Yields initializers and tensor attributes of all graphs and functions, repeats included."""
    for scope in graphs(model):
        for value in scope.graph.initializers.values():
            if value.const_value is not None:
                yield value.const_value
        for node in scope.graph:
            for attr in node.attributes.data.values():
                if attr.type in _TENSOR_TYPES:
                    yield from _attribute_tensors(attr)
    for function in model.functions.values():
        for attr in function.attributes.values():
            yield from _attribute_tensors(attr)


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


Replace = Callable[[onnx_ir.TensorProtocol], onnx_ir.TensorProtocol]


@contextmanager
def replaced_tensors(model: onnx_ir.Model, replace: Replace) -> Iterator[None]:
    """Like `replace_tensors`, but only inside the block: the model has its own tensors after."""
    undo: list[Callable[[], None]] = []
    try:
        _substitute(model, replace, undo)
        yield
    finally:
        for step in undo:
            step()


def replace_tensors(model: onnx_ir.Model, replace: Replace) -> None:
    """Puts other tensors in the place of a model's, also in attributes and functions.

    Args:
        model: Changed in place; types and shapes of values are left as they are.
        replace: Returns the stand-in of a tensor, or the tensor itself to leave it. Called once
            for each tensor object, so that shared tensors stay shared.
    """
    _substitute(model, replace, [])


def _substitute(model: onnx_ir.Model, replace: Replace, undo: list[Callable[[], None]]) -> None:
    stand_ins: dict[int, onnx_ir.TensorProtocol] = {}

    def stand_in(tensor: onnx_ir.TensorProtocol) -> onnx_ir.TensorProtocol:
        if id(tensor) not in stand_ins:
            stand_ins[id(tensor)] = replace(tensor)
        return stand_ins[id(tensor)]

    for scope in graphs(model):
        for value in scope.graph.initializers.values():
            tensor = value.const_value
            if tensor is not None and (new := stand_in(tensor)) is not tensor:
                undo.append(partial(setattr, value, "const_value", tensor))
                value.const_value = new
        for node in scope.graph:
            if any(attr.type in _TENSOR_TYPES for attr in node.attributes.data.values()):
                _replace_attributes(node, stand_in, undo)
    for function in model.functions.values():
        _replace_attributes(function, stand_in, undo)


def _attribute_tensors(attr: onnx_ir.Attr) -> tuple[onnx_ir.TensorProtocol, ...]:
    # attr.as_tensor() checks against a Protocol class, which takes 0.2 ms a tensor.
    if attr.value is None or attr.is_ref():
        return ()
    if attr.type == AttributeType.TENSOR:
        return (attr.value,)
    return tuple(attr.value) if attr.type == AttributeType.TENSORS else ()


def _replace_attributes(
    owner: onnx_ir.Node | onnx_ir.Function, stand_in: Replace, undo: list[Callable[[], None]]
) -> None:
    for attr in list(owner.attributes.values()):
        old = _attribute_tensors(attr)
        new = tuple(stand_in(tensor) for tensor in old)
        if all(a is b for a, b in zip(old, new, strict=True)):
            continue
        undo.append(partial(owner.attributes.__setitem__, attr.name, attr))
        value = new[0] if attr.type == AttributeType.TENSOR else new
        owner.attributes[attr.name] = onnx_ir.Attr(
            attr.name, attr.type, value, doc_string=attr.doc_string
        )
