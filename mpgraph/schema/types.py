"""Types of values as ONNX type strings, such as ``tensor(float16)`` or ``seq(tensor(float))``.

The strings are those of operator schemas and of onnxruntime's kernel registry, so a value's type, a
schema's constraint and a kernel's constraint are compared as they are.
"""

from __future__ import annotations

from functools import cache

from mpgraph import ir

__all__ = [
    "FLOAT_TYPES",
    "element_type",
    "is_tensor",
    "sequence_of",
    "tensor",
    "to_ir_type",
    "type_of",
    "unwrap",
    "with_element_type",
]

FLOAT_TYPES: frozenset[ir.DataType] = ir.FLOATS
"""The float types that a policy can choose between; 8- and 4-bit floats are storage formats."""


@cache
def tensor(dtype: ir.DataType) -> str:
    """The type string of a dense tensor of ``dtype``."""
    return ir.type_string(dtype)


def sequence_of(element: str) -> str:
    """The type string of a sequence whose elements have the type ``element``."""
    return f"seq({element})"


def is_tensor(type_string: str) -> bool:
    """Whether the type is a dense tensor: the only type that a Cast accepts."""
    return type_string.startswith("tensor(")


@cache
def unwrap(type_string: str) -> str:
    """Take one layer off: ``seq(X)`` and ``optional(X)`` give ``X``, a tensor itself."""
    for wrapper in ("seq(", "optional("):
        if type_string.startswith(wrapper):
            return type_string[len(wrapper) : -1]
    return type_string


@cache
def _tensor_part(type_string: str) -> tuple[int, int] | None:
    start = type_string.find("tensor(")
    if start < 0:
        return None
    return start, type_string.index(")", start) + 1


@cache
def element_type(type_string: str | None) -> ir.DataType | None:
    """The dtype of the tensors inside a type, however deeply wrapped; None where there is none."""
    part = None if type_string is None else _tensor_part(type_string)
    if type_string is None or part is None:
        return None
    return ir.from_type_string(type_string[part[0] : part[1]])


@cache
def with_element_type(type_string: str, dtype: ir.DataType) -> str:
    """The same type with tensors of another ``dtype`` inside."""
    part = _tensor_part(type_string)
    if part is None:
        return type_string
    return type_string[: part[0]] + tensor(dtype) + type_string[part[1] :]


def type_of(declared: ir.TypeProtocol | None) -> str | None:
    """The type string of a declared IR type; None where it is absent, sparse or without a dtype."""
    if declared is None:
        return None
    if isinstance(declared, ir.SequenceType):
        inner = type_of(declared.elem_type)
        return None if inner is None else f"seq({inner})"
    if isinstance(declared, ir.OptionalType):
        inner = type_of(declared.elem_type)
        return None if inner is None else f"optional({inner})"
    if not isinstance(declared, ir.TensorType) or declared.dtype == ir.DataType.UNDEFINED:
        return None
    return tensor(declared.dtype)


def to_ir_type(type_string: str) -> ir.TypeProtocol | None:
    """A fresh IR type object of a type string; None for maps, which the IR cannot express."""
    if type_string.startswith("seq("):
        inner = to_ir_type(unwrap(type_string))
        return None if inner is None else ir.SequenceType(inner)
    if type_string.startswith("optional("):
        inner = to_ir_type(unwrap(type_string))
        return None if inner is None else ir.OptionalType(inner)
    if not is_tensor(type_string):
        return None
    return ir.TensorType(ir.from_type_string(type_string))
