"""A model as text: the same text for the same model, one node a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import onnx_ir
from onnx_ir import AttributeType, DataType

from mpgraph.ir.dtypes import dtype_name
from mpgraph.ir.provenance import origin
from mpgraph.ir.scopes import module_scope, subgraphs_of

__all__ = ["print_model"]

_SHOWN_VALUES = 8


def print_model(model: onnx_ir.Model, *, node_names: bool = False) -> str:
    """Returns a readable, deterministic text of a whole model, for golden tests and dumps.

    Opset imports, inputs with types, initializers (values up to 8 elements), nodes as
    `%y: float16 [2, 3] = MatMul(%x, %w) {attributes}  # scope  ! pass: rule`, subgraphs indented
    under their node, outputs, then functions. No lazy or external tensor above 8 elements is read.

    Args:
        model: The model.
        node_names: Also print the name of each node, as `"name" %y: ...`.
    """
    lines = [f"model ir_version={model.ir_version} opset={_imports(model.opset_imports)}"]
    lines.extend(_graph(model.graph, "  ", node_names))
    for function in model.functions.values():
        overload = f":{function.overload}" if function.overload else ""
        lines.append(
            f"function {function.domain}::{function.name}{overload}"
            f" opset={_imports(function.opset_imports)}"
        )
        if function.attributes:
            lines.append(f"  attributes {_attributes(function.attributes.values())}")
        lines.extend(_graph(function.graph, "  ", node_names))
    return "\n".join(lines) + "\n"


def _graph(graph: onnx_ir.Graph, indent: str, node_names: bool) -> Iterator[str]:
    for value in graph.inputs:
        yield f"{indent}input {_typed(value)}"
    for value in graph.initializers.values():
        yield f"{indent}initializer {_typed(value)} = {_tensor(value.const_value)}"
    for node in graph:
        name = f'"{node.name or ""}" ' if node_names else ""
        yield f"{indent}{name}{_node(node)}"
        for attribute, inner in subgraphs_of(node) if node.attributes else ():
            yield f"{indent}  {attribute}:"
            yield from _graph(inner, f"{indent}    ", node_names)
    for value in graph.outputs:
        yield f"{indent}output {_typed(value)}"


def _node(node: onnx_ir.Node) -> str:
    outputs = ", ".join(_typed(value) if value.name else "_" for value in node.outputs)
    inputs = ", ".join("_" if value is None else f"%{value.name}" for value in node.inputs)
    op = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
    op += f":{node.overload}" if node.overload else ""
    text = f"{outputs} = {op}({inputs})"
    plain = [
        attr
        for attr in node.attributes.values()
        if attr.is_ref() or attr.type not in (AttributeType.GRAPH, AttributeType.GRAPHS)
    ]
    if plain:
        text += f" {{{_attributes(plain)}}}"
    if scope := module_scope(node):
        text += f"  # {scope}"
    if stamped := origin(node):
        text += f"  ! {stamped[0]}: {stamped[1]}"
    return text


def _attributes(attributes: Iterable[onnx_ir.Attr]) -> str:
    ordered = sorted(attributes, key=lambda attr: attr.name)
    return ", ".join(f"{attr.name}={_attribute(attr)}" for attr in ordered)


def _attribute(attr: onnx_ir.Attr) -> str:
    if attr.is_ref():
        return f"@{attr.ref_attr_name}"
    if attr.value is None:
        return "required"
    if attr.type == AttributeType.TENSOR:
        return _tensor(attr.value)
    if attr.type == AttributeType.TENSORS:
        return f"[{', '.join(_tensor(tensor) for tensor in attr.value)}]"
    if attr.type in (AttributeType.TYPE_PROTO, AttributeType.TYPE_PROTOS):
        entries = attr.value if isinstance(attr.value, tuple) else (attr.value,)
        return ", ".join(f"{_type(entry.type)}{_shape(entry.shape)}" for entry in entries)
    if isinstance(attr.value, tuple):
        return f"[{', '.join(_scalar(item) for item in attr.value)}]"
    return _scalar(attr.value)


def _typed(value: onnx_ir.Value) -> str:
    return f"%{value.name}: {_type(value.type)}{_shape(value.shape)}"


def _type(type_: onnx_ir.TypeProtocol | None) -> str:
    if type_ is None:
        return "?"
    if isinstance(type_, onnx_ir.SequenceType):
        return f"seq({_type(type_.elem_type)})"
    if isinstance(type_, onnx_ir.OptionalType):
        return f"optional({_type(type_.elem_type)})"
    return dtype_name(type_.dtype)


def _shape(shape: onnx_ir.Shape | None) -> str:
    if shape is None:
        return ""
    dims = (str(d) if isinstance(d, int) else d.value or "?" for d in shape)
    return f" [{', '.join(dims)}]"


def _tensor(tensor: onnx_ir.TensorProtocol | None) -> str:
    if tensor is None:
        return "missing"
    head = f"{dtype_name(tensor.dtype)}{list(tensor.shape.numpy())}"
    if tensor.size > _SHOWN_VALUES:
        return head
    array = tensor.numpy()
    if tensor.dtype != DataType.STRING and array.dtype.kind not in "biuf":
        array = array.astype(np.float32)
    return f"{head} {{{', '.join(_scalar(item) for item in array.reshape(-1).tolist())}}}"


def _scalar(item: object) -> str:
    # Seven significant digits tell float32 values apart well enough to read.
    return f"{item:.7g}" if isinstance(item, float) else repr(item)


def _imports(imports: dict[str, int]) -> str:
    return ", ".join(f"{domain or 'ai.onnx'}:{version}" for domain, version in imports.items())
