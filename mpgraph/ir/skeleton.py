"""A model as a proto with no more in it than onnx's shape inference looks at."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, TensorProto, ValueInfoProto
from onnx_ir import AttributeType, DataType, serde

from mpgraph.ir.checker import STUB_LOCATION
from mpgraph.ir.proto import in_memory
from mpgraph.ir.repair import type_set_aside
from mpgraph.ir.schemas import operator_schema
from mpgraph.ir.scopes import opset_of

__all__ = ["skeleton"]

_CONTENT_BYTES = 1024  # inference computes with small constants, such as the target of a Reshape


def skeleton(model: onnx_ir.Model) -> ModelProto:
    """Returns the graphs and functions of a model without names of nodes, metadata and weights.

    Tensors above 1 KiB are without data. Declared types of what nodes produce are left out, but
    for outputs of the model and of operators that onnx does not know. Nodes stand at the positions
    that they have in the model.
    """
    proto = ModelProto(ir_version=model.ir_version)
    _write_imports(proto, model.opset_imports)
    _GraphWriter(model.opset_imports).write(proto.graph, model.graph)
    for value, info in zip(model.graph.outputs, proto.graph.output, strict=True):
        _write_info(info, value)
    for function in model.functions.values():
        _write_function(proto.functions.add(), function)
    return proto


class _GraphWriter:
    """Writes graphs in which one list of opset imports is in force."""

    def __init__(self, imports: Mapping[str, int]) -> None:
        self._imports = imports
        self._known: dict[tuple[str, str], bool] = {}

    def write(self, proto: GraphProto, graph: onnx_ir.Graph) -> None:
        proto.name = graph.name or ""
        for value in graph.inputs:
            _write_info(proto.input.add(), value)
        for name, value in graph.initializers.items():
            if value.const_value is not None:
                _write_tensor(proto.initializer.add(), value.const_value, name)
        self.write_nodes(proto, graph)
        for value in graph.outputs:
            proto.output.add(name=value.name or "")

    def write_nodes(self, proto: GraphProto | FunctionProto, graph: onnx_ir.Graph) -> None:
        for node in graph:
            written = proto.node.add(
                op_type=node.op_type,
                domain=node.domain,
                overload=node.overload,
                input=["" if value is None else value.name or "" for value in node.inputs],
                output=[value.name or "" for value in node.outputs],
            )
            for attribute in node.attributes.data.values():
                self.write_attribute(written.attribute.add(), attribute)
            if not self._is_known(node):
                for value in node.outputs:
                    if value.name and not value.is_graph_output():
                        _write_info(proto.value_info.add(), value)

    def _is_known(self, node: onnx_ir.Node) -> bool:
        key = node.domain, node.op_type
        known = self._known.get(key)
        if known is None:
            version = opset_of(node.domain, self._imports)
            known = version is not None and operator_schema(*key, version) is not None
            self._known[key] = known
        return known

    def write_attribute(self, proto: AttributeProto, attribute: onnx_ir.Attr) -> None:
        if attribute.is_ref():
            serde.serialize_reference_attribute_into(proto, attribute)
            return
        match attribute.type:
            case AttributeType.GRAPH:
                self.write(proto.g, attribute.value)
            case AttributeType.GRAPHS:
                for graph in attribute.value:
                    self.write(proto.graphs.add(), graph)
            case AttributeType.TENSOR:
                _write_tensor(proto.t, attribute.value, "")
            case AttributeType.TENSORS:
                for tensor in attribute.value:
                    _write_tensor(proto.tensors.add(), tensor, "")
            case _:
                serde.serialize_attribute_into(proto, attribute)
                return
        proto.name = attribute.name
        proto.type = AttributeProto.AttributeType.Value(attribute.type.name)


def _write_function(proto: FunctionProto, function: onnx_ir.Function) -> None:
    proto.domain, proto.name, proto.overload = function.identifier()
    _write_imports(proto, function.opset_imports)
    proto.input.extend(value.name or "" for value in function.inputs)
    proto.output.extend(value.name or "" for value in function.outputs)
    writer = _GraphWriter(function.opset_imports)
    for attribute in function.attributes.values():
        if attribute.value is None:
            proto.attribute.append(attribute.name)
        else:
            writer.write_attribute(proto.attribute_proto.add(), attribute)
    writer.write_nodes(proto, function.graph)


def _write_imports(proto: ModelProto | FunctionProto, imports: Mapping[str, int]) -> None:
    for domain, version in imports.items():
        proto.opset_import.add(domain=domain, version=version)


def _write_info(proto: ValueInfoProto, value: onnx_ir.Value) -> None:
    proto.name = value.name or ""
    if value.type is not None:
        serde.serialize_type_into(proto.type, value.type)
        if value.shape is not None:
            serde.serialize_shape_into(proto.type, value.shape)
        return
    aside = type_set_aside(value)
    if aside is not None:
        proto.type.CopyFrom(aside)


def _write_tensor(proto: TensorProto, tensor: onnx_ir.TensorProtocol, name: str) -> None:
    if tensor.dtype == DataType.STRING or tensor.nbytes <= _CONTENT_BYTES:
        serde.serialize_tensor_into(proto, in_memory(tensor))
    else:
        proto.data_type = tensor.dtype.value
        proto.dims.extend(tensor.shape.numpy())
        proto.data_location = TensorProto.EXTERNAL
        proto.external_data.add(key="location", value=STUB_LOCATION)
    proto.name = name
