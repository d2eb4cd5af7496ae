"""Rewrites in the proto what onnx-ir would misread; the meaning of the model stays the same."""

from __future__ import annotations

import base64

import onnx_ir
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TypeProto, ValueInfoProto

from mpgraph.errors import InvalidModelError
from mpgraph.ir.walk import Survey

__all__ = ["repair", "restore_types", "set_types_aside", "type_set_aside"]

_TYPE_KEY = "mpgraph.type"


def repair(proto: ModelProto, found: Survey, where: str) -> None:
    """Repairs, in place, what onnx-ir would misread.

    * The domain "ai.onnx" becomes "" in opset imports and functions: onnx-ir does that for nodes
      only, and they would lose their import.
    * A subgraph output that names an outer value gets an Identity in the subgraph: onnx-ir would
      make a fresh value of that name, without a link.

    Raises:
        InvalidModelError: "" and "ai.onnx" are imported at different versions.
    """
    _unify_default_domain(proto, where)
    names: set[str] = set()
    for graph, path in found.graphs:
        if isinstance(graph, GraphProto) and path != "main":
            _link_outer_outputs(found, graph, names)


def set_types_aside(found: Survey) -> None:
    """Moves types that onnx-ir cannot hold into the value's metadata, in place.

    These are maps, opaque types, and sequences or optionals of unknown element. The values have
    no type in the IR, and `restore_types` gives it back when they are written.
    """
    for graph, _ in found.graphs:
        for info in _value_infos(graph):
            if info.HasField("type") and not _representable(info.type):
                text = base64.b64encode(info.type.SerializeToString(deterministic=True)).decode()
                info.metadata_props.add(key=_TYPE_KEY, value=text)
                info.ClearField("type")


def restore_types(found: Survey) -> None:
    """Puts back, in place, the types that `set_types_aside` moved away."""
    for graph, _ in found.graphs:
        for info in _value_infos(graph):
            for index, entry in enumerate(info.metadata_props):
                if entry.key == _TYPE_KEY:
                    info.type.ParseFromString(base64.b64decode(entry.value))
                    del info.metadata_props[index]
                    break


def type_set_aside(value: onnx_ir.Value) -> TypeProto | None:
    """Returns the type of a value that `set_types_aside` moved away; None where there is none."""
    text = value.metadata_props.get(_TYPE_KEY)
    return None if text is None else TypeProto.FromString(base64.b64decode(text))


def _unify_default_domain(proto: ModelProto, where: str) -> None:
    for owner in (proto, *proto.functions):
        versions = {o.version for o in owner.opset_import if o.domain in ("", "ai.onnx")}
        if len(versions) > 1:
            raise InvalidModelError(
                where, 'imports the domain "" and its other name "ai.onnx" at different versions'
            )
        seen = False
        for index in reversed(range(len(owner.opset_import))):
            entry = owner.opset_import[index]
            if entry.domain not in ("", "ai.onnx"):
                continue
            if seen:
                del owner.opset_import[index]
            entry.domain = ""
            seen = True
    for function in proto.functions:
        if function.domain == "ai.onnx":
            function.domain = ""


def _link_outer_outputs(found: Survey, graph: GraphProto, names: set[str]) -> None:
    own = {info.name for info in graph.input}
    own.update(tensor.name for tensor in graph.initializer)
    for node in graph.node:
        own.update(node.output)
    for info in graph.output:
        if info.name in own:
            continue
        if not names:
            names.update(_all_names(found))
        new = f"{info.name}_inner"
        count = 0
        while new in names:
            count += 1
            new = f"{info.name}_inner_{count}"
        names.add(new)
        node = NodeProto(op_type="Identity", name=new, input=[info.name], output=[new])
        graph.node.append(node)
        info.name = new


def _all_names(found: Survey) -> set[str]:
    names: set[str] = set()
    for graph, _ in found.graphs:
        if isinstance(graph, GraphProto):
            names.update(info.name for info in graph.input)
            names.update(info.name for info in graph.output)
            names.update(tensor.name for tensor in graph.initializer)
        else:
            names.update(graph.input)
        for node in graph.node:
            names.add(node.name)
            names.update(node.output)
    return names


def _value_infos(graph: GraphProto | FunctionProto) -> list[ValueInfoProto]:
    if isinstance(graph, FunctionProto):
        return list(graph.value_info)
    return [*graph.input, *graph.output, *graph.value_info]


def _representable(type_: TypeProto) -> bool:
    kind = type_.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type", None):
        return True
    if kind in ("sequence_type", "optional_type"):
        inner = getattr(type_, kind)
        if not inner.HasField("elem_type"):
            return False
        element = inner.elem_type
        return element.WhichOneof("value") is not None and _representable(element)
    return False
