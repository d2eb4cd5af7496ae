"""Changes of values and links that onnx-ir alone makes easy to get wrong."""

from __future__ import annotations

from collections.abc import Iterable

import onnx_ir

from mpgraph.ir.dtypes import with_element_dtype

__all__ = ["copy_shape", "redirect", "set_constant", "set_dtype"]


def set_dtype(value: onnx_ir.Value, dtype: onnx_ir.DataType) -> None:
    """Gives a value a new element type; never changes the type object others may share."""
    value.type = with_element_dtype(value.type, dtype)


def copy_shape(source: onnx_ir.Value, value: onnx_ir.Value) -> None:
    """Gives a value the shape of another one, which does not share the object."""
    value.shape = None if source.shape is None else source.shape.copy()


def set_constant(value: onnx_ir.Value, tensor: onnx_ir.TensorProtocol) -> None:
    """Binds a tensor to a value together with its dtype and shape.

    A tensor of one dtype under a declared type of another is refused by every runtime.
    """
    value.const_value = tensor
    value.shape = onnx_ir.Shape(tensor.shape.numpy())
    set_dtype(value, tensor.dtype)


def redirect(uses: Iterable[tuple[onnx_ir.Node, int]], value: onnx_ir.Value) -> None:
    """Makes the given (node, input index) pairs read `value`.

    Uses by the node that produces `value` are left alone: a Cast that was made before its uses
    were collected is among the uses of its own input, and would consume itself.
    """
    producer = value.producer()
    for node, index in tuple(uses):
        if node is not producer:
            node.replace_input_with(index, value)
