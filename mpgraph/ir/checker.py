"""Runs onnx's checker on a model whose weights are stubs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

import onnx
import onnx.checker
import onnx.shape_inference
from onnx import GraphProto, ModelProto, TensorProto

from mpgraph.ir.walk import Survey, survey

__all__ = ["STUB_LOCATION", "checker_finding", "stubbed"]

STUB_LOCATION = "weights"
"""File name that stubs refer to; `checker_finding` puts an empty file there."""

_KEEP_BYTES = 1024


def checker_finding(stubs: ModelProto, *, full: bool) -> str | None:
    """Checks a model and returns what is wrong with it in one line, None for a valid model.

    Args:
        stubs: The model with its large tensors external at `STUB_LOCATION`.
        full: Also infer types and shapes strictly.
    """
    with tempfile.TemporaryDirectory(prefix="mpgraph-") as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(stubs.SerializeToString())
        # The checker wants external data to be a regular file, and does not look inside.
        (Path(folder) / STUB_LOCATION).touch()
        try:
            onnx.checker.check_model(path, full_check=full)
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
            return " ".join(str(error).split())[:400]
        except (RuntimeError, ValueError, TypeError) as error:
            return " ".join(str(error).split())[:400] or type(error).__name__
    return None


def stubbed(proto: ModelProto, found: Survey) -> ModelProto:
    """Returns a proto without large weights, which become stubs of the same type.

    That is the given proto itself when it has none, else a copy. Bytes of the initializers of the
    main graph are never copied, so that a model of nearly 2 GiB can be checked in little memory.
    """
    if not any(map(_needs_stub, found.tensors())):
        return proto
    copy = ModelProto()
    for field, value in proto.ListFields():
        if field.name == "graph":
            _copy_graph(value, copy.graph)
        elif field.is_repeated:
            getattr(copy, field.name).extend(value)
        elif field.message_type is not None:
            getattr(copy, field.name).CopyFrom(value)
        else:
            setattr(copy, field.name, value)
    for tensor in survey(copy).tensors():
        if _needs_stub(tensor):
            _make_stub(tensor)
    return copy


def _needs_stub(tensor: TensorProto) -> bool:
    if tensor.data_location == TensorProto.EXTERNAL:
        return True
    # ByteSize does not materialise the data, as reading raw_data would.
    return bool(tensor.HasField("raw_data") and tensor.ByteSize() > _KEEP_BYTES)


def _copy_graph(graph: GraphProto, copy: GraphProto) -> None:
    for field, value in graph.ListFields():
        if field.name == "initializer":
            _copy_initializers(value, copy)
        elif field.is_repeated:
            getattr(copy, field.name).extend(value)
        else:
            setattr(copy, field.name, value)


def _copy_initializers(tensors: Iterable[TensorProto], copy: GraphProto) -> None:
    for tensor in tensors:
        if not _needs_stub(tensor):
            copy.initializer.append(tensor)
            continue
        stub = copy.initializer.add(name=tensor.name, data_type=tensor.data_type)
        stub.dims.extend(tensor.dims)
        _make_stub(stub)


def _make_stub(tensor: TensorProto) -> None:
    tensor.ClearField("raw_data")
    tensor.ClearField("external_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=STUB_LOCATION)
