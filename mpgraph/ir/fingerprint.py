"""One short text that says which graph a model is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable

import onnx_ir

from mpgraph.ir.attributes import attribute_key, tensor_key
from mpgraph.ir.scopes import graphs

__all__ = ["fingerprint"]


def fingerprint(model: onnx_ir.Model) -> str:
    """Returns a SHA-256 (hex) over the structure of a model.

    It covers opset imports, every node of every graph with its operator, name, attributes and
    connections, graph inputs and outputs with their types, and initializers by name, dtype and
    shape; the content only of tensors below 1 KiB. It does not cover metadata, documentation,
    intermediate types, nor where the weights lie, so that it is the same before a save and after
    a load.
    """
    digest = hashlib.sha256()

    def add(*parts: object) -> None:
        digest.update("\x1f".join(map(str, parts)).encode())
        digest.update(b"\x1e")

    for scope in graphs(model):
        add("graph", scope.path, *sorted(scope.opset_imports.items()))
        _add_values(add, "in", scope.graph.inputs)
        for name, value in sorted(scope.graph.initializers.items()):
            add("initializer", name, tensor_key(value.const_value) if value.const_value else "")
        for node in scope.graph:
            attributes = sorted((k, attribute_key(a)) for k, a in node.attributes.items())
            add(
                *(node.domain, node.op_type, node.overload, node.name or ""),
                *("" if value is None else value.name for value in node.inputs),
                ">",
                *_without_trailing_gaps(value.name or "" for value in node.outputs),
                *attributes,
            )
        _add_values(add, "out", scope.graph.outputs)
    for function in model.functions.values():
        add("function", *function.identifier(), *map(attribute_key, function.attributes.values()))
    return digest.hexdigest()


def _without_trailing_gaps(names: Iterable[str]) -> list[str]:
    """Omitted outputs at the end of a list are not written to a file."""
    found = list(names)
    while found and not found[-1]:
        found.pop()
    return found


def _add_values(add: Callable[..., None], label: str, values: Iterable[onnx_ir.Value]) -> None:
    for value in values:
        shape = "?" if value.shape is None else str(value.shape)
        add(label, value.name, repr(value.type), shape)
