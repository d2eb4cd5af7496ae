"""From the IR to ONNX protos."""

from __future__ import annotations

import onnx_ir
from onnx import GraphProto, ModelProto, TensorProto
from onnx_ir import DataType, serde

from mpgraph.errors import OutputError
from mpgraph.ir.checker import STUB_LOCATION
from mpgraph.ir.files import PROTOBUF_LIMIT
from mpgraph.ir.memory import paused_gc
from mpgraph.ir.preparation import prepared
from mpgraph.ir.repair import restore_types
from mpgraph.ir.tensors import Replace, all_tensors, external_bytes
from mpgraph.ir.walk import survey

__all__ = ["in_memory", "serialized", "stub_of", "to_bytes", "to_proto", "to_proto_without_weights"]


def to_proto(model: onnx_ir.Model) -> ModelProto:
    """Returns the model as one proto, with external and lazy tensors read into it.

    Raises:
        OutputError: The weights are larger than the 2 GiB that a proto can hold.
    """
    size = sum(tensor.nbytes for tensor in all_tensors(model))
    if size > PROTOBUF_LIMIT:
        raise OutputError(
            "the model",
            f"has {size / 2**30:.1f} GiB of weights, a ModelProto holds at most 2 GiB",
            "save it to a file: the weights then go to external data",
        )
    return serialized(model, in_memory)


def to_bytes(model: onnx_ir.Model) -> bytes:
    """Returns the model as the bytes of one ONNX file; see `to_proto`."""
    return bytes(to_proto(model).SerializeToString(deterministic=True))


def to_proto_without_weights(model: onnx_ir.Model, limit_bytes: int = 1024) -> ModelProto:
    """Returns the model as a proto in which tensors above a size are empty external stubs.

    Graphs, types and small constants are as in the model: good for the checker, for shape
    inference and for the version converter, whatever the size of the model. No lazy tensor above
    the limit is evaluated.

    Args:
        model: Unchanged after the call.
        limit_bytes: Tensors up to this size keep their data.
    """

    def stub(tensor: onnx_ir.TensorProtocol) -> onnx_ir.TensorProtocol:
        if tensor.dtype == DataType.STRING or tensor.nbytes <= limit_bytes:
            return in_memory(tensor)
        return stub_of(tensor, STUB_LOCATION)

    return serialized(model, stub)


def stub_of(tensor: onnx_ir.TensorProtocol, location: str) -> onnx_ir.ExternalTensor:
    """Returns an external tensor of the same name, dtype and shape, without a place in a file."""
    return onnx_ir.ExternalTensor(
        location,
        offset=None,
        length=None,
        dtype=tensor.dtype,
        shape=onnx_ir.Shape(tensor.shape.numpy()),
        name=tensor.name or "",
    )


def in_memory(tensor: onnx_ir.TensorProtocol) -> onnx_ir.TensorProtocol:
    """Returns a tensor that is serialized with its data; reads only when it is serialized."""
    if isinstance(tensor, onnx_ir.LazyTensor) and tensor.dtype == DataType.STRING:
        return onnx_ir.StringTensor(tensor.numpy(), name=tensor.name)
    if not isinstance(tensor, onnx_ir.ExternalTensor):
        return tensor
    source = tensor

    def read() -> onnx_ir.TensorProtocol:
        return serde.TensorProtoTensor(
            TensorProto(
                data_type=source.dtype.value,
                dims=source.shape.numpy(),
                raw_data=external_bytes(source),
            )
        )

    return onnx_ir.LazyTensor(
        read,
        dtype=source.dtype,
        shape=source.shape,
        name=source.name,
        doc_string=source.doc_string,
        metadata_props=source.metadata_props,
    )


def serialized(model: onnx_ir.Model, replace: Replace) -> ModelProto:
    """Serializes a model, and undoes what onnx-ir adds and sets aside.

    Args:
        model: Unchanged after the call.
        replace: Returns the tensor that is written in the place of one of the model's.
    """
    with paused_gc(), prepared(model, replace) as preparation:
        proto = serde.serialize_model(model)
        if preparation.needs_mending:
            found = survey(proto)
            restore_types(found)
            for graph, _ in found.graphs:
                if isinstance(graph, GraphProto):
                    _drop_initializer_infos(graph)
            for tensor in found.tensors():
                _drop_repeated_metadata(tensor)
    return proto


def _drop_initializer_infos(graph: GraphProto) -> None:
    """onnx-ir writes a value_info for every initializer, which only repeats the tensor."""
    initializers = {tensor.name for tensor in graph.initializer}
    if not initializers or not graph.value_info:
        return
    kept = [
        info
        for info in graph.value_info
        if info.name not in initializers or info.doc_string or info.metadata_props
    ]
    if len(kept) < len(graph.value_info):
        copies = GraphProto(value_info=kept)
        del graph.value_info[:]
        graph.value_info.extend(copies.value_info)


def _drop_repeated_metadata(tensor: TensorProto) -> None:
    """onnx-ir writes the metadata of a tensor twice, and twice as much after each load."""
    if len(tensor.metadata_props) < 2:
        return
    entries = {entry.key: entry.value for entry in tensor.metadata_props}
    if len(entries) < len(tensor.metadata_props):
        del tensor.metadata_props[:]
        for key, value in entries.items():
            tensor.metadata_props.add(key=key, value=value)
