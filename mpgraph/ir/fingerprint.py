"""One short text that says which graph a model is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable

import onnx_ir

from mpgraph.ir.attributes import attribute_key, tensor_key
from mpgraph.ir.scopes import graphs

__all__ = ["content_fingerprint", "fingerprint"]

_SAMPLES = 64


def fingerprint(model: onnx_ir.Model) -> str:
    """Returns a SHA-256 (hex) over the structure of a model.

    It covers opset imports, every node of every graph with its operator, name, attributes and
    connections, graph inputs and outputs with their types, and initializers by name, dtype and
    shape; the content only of tensors below 1 KiB. It does not cover metadata, documentation,
    intermediate types, nor where the weights lie, so that it is the same before a save and after
    a load.
    """
    entries: list[str] = []

    def add(*parts: object) -> None:
        entries.append("\x1f".join(map(str, parts)))

    for scope in graphs(model):
        add("graph", scope.path, *sorted(scope.opset_imports.items()))
        _add_values(add, "in", scope.graph.inputs)
        for name, value in sorted(scope.graph.initializers.items()):
            add("initializer", name, tensor_key(value.const_value) if value.const_value else "")
        entries += map(_node_entry, scope.graph)
        _add_values(add, "out", scope.graph.outputs)
    for function in model.functions.values():
        add("function", *function.identifier(), *map(attribute_key, function.attributes.values()))
    return hashlib.sha256("\x1e".join((*entries, "")).encode()).hexdigest()


def content_fingerprint(model: onnx_ir.Model) -> str:
    """Returns a SHA-256 (hex) that also tells models of one structure by their weights.

    Of each larger tensor a few evenly spaced elements are read, so that it costs no more for a
    large model; whoever changes others only is not found out.
    """
    digest = hashlib.sha256(fingerprint(model).encode())
    for scope in graphs(model):
        constants = [value.const_value for value in scope.graph.initializers.values()]
        for node in scope.graph:
            constants += [
                attr.value
                for attr in node.attributes.values()
                if attr.type == onnx_ir.AttributeType.TENSOR and not attr.is_ref()
            ]
        for tensor in constants:
            if tensor is not None and tensor.dtype != onnx_ir.DataType.STRING:
                elements = tensor.numpy().reshape(-1)
                step = max(elements.size // _SAMPLES, 1)
                digest.update(elements[::step].tobytes())
    return digest.hexdigest()


def _node_entry(node: onnx_ir.Node) -> str:
    parts = [node.domain, node.op_type, node.overload, node.name or ""]
    parts += ["" if value is None else str(value.name) for value in node.inputs]
    parts.append(">")
    parts += _without_trailing_gaps([value.name or "" for value in node.outputs])
    attributes = node.attributes.data
    if attributes:
        parts += map(str, sorted((name, attribute_key(one)) for name, one in attributes.items()))
    return "\x1f".join(parts)


def _without_trailing_gaps(names: list[str]) -> list[str]:
    """Omitted outputs at the end of a list are not written to a file."""
    while names and not names[-1]:
        names.pop()
    return names


def _add_values(add: Callable[..., None], label: str, values: Iterable[onnx_ir.Value]) -> None:
    for value in values:
        shape = "?" if value.shape is None else str(value.shape)
        add(label, value.name, repr(value.type), shape)
