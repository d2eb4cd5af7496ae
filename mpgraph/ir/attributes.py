"""Attributes as text that tells any two different ones apart."""

from __future__ import annotations

import hashlib

import onnx_ir
from onnx_ir import AttributeType, DataType

from mpgraph.ir.dtypes import dtype_name

__all__ = ["attribute_key", "tensor_key"]

_CONTENT_BYTES = 1024
_PLAIN = (
    AttributeType.INT,
    AttributeType.INTS,
    AttributeType.FLOAT,
    AttributeType.FLOATS,
    AttributeType.STRING,
    AttributeType.STRINGS,
)


def attribute_key(attr: onnx_ir.Attr) -> str:
    """Returns a text that is equal for two attributes only if they mean the same.

    The type is part of it: INT 1 and FLOAT 1.0 compare equal in Python, and onnx-ir's own
    common-subexpression pass merges nodes over that. Subgraphs are not described, only counted.
    """
    kind = attr.type.name
    if attr.is_ref():
        return f"{kind}@{attr.ref_attr_name}"
    value = attr.value
    if attr.type in _PLAIN:
        return f"{kind}:{value!r}"
    if attr.type == AttributeType.TENSOR:
        return f"{kind}:{tensor_key(value)}"
    if attr.type == AttributeType.TENSORS:
        return f"{kind}:{','.join(tensor_key(tensor) for tensor in value)}"
    if attr.type == AttributeType.GRAPH:
        return kind
    if attr.type == AttributeType.GRAPHS:
        return f"{kind}:{len(value)}"
    if attr.type in (AttributeType.TYPE_PROTO, AttributeType.TYPE_PROTOS):
        entries = value if isinstance(value, tuple) else (value,)
        return f"{kind}:{[(repr(entry.type), str(entry.shape)) for entry in entries]}"
    return f"{kind}:{value!r}"


def tensor_key(tensor: onnx_ir.TensorProtocol) -> str:
    """Returns dtype and shape, and for tensors below 1 KiB a digest of the content."""
    head = f"{dtype_name(tensor.dtype)}{list(tensor.shape.numpy())}"
    if tensor.dtype == DataType.STRING:
        content = repr(tensor.numpy().reshape(-1).tolist()).encode()
    elif 0 < tensor.nbytes < _CONTENT_BYTES:
        content = tensor.tobytes()
    else:
        return head
    return f"{head}#{hashlib.sha256(content).hexdigest()[:16]}"
