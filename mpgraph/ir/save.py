"""Saves a model: streaming, atomic, with external data where it is needed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import onnx.serialization
import onnx_ir
from onnx_ir import DataType

from mpgraph.errors import OutputError
from mpgraph.ir.destination import Destination, check_destination
from mpgraph.ir.files import PROTOBUF_LIMIT, format_of
from mpgraph.ir.load import EXTERNAL_PATHS
from mpgraph.ir.memory import paused_gc
from mpgraph.ir.proto import in_memory, serialized, to_proto
from mpgraph.ir.tensor_writer import write_tensor
from mpgraph.ir.tensors import all_tensors
from mpgraph.ir.wire import EmbeddedModel

__all__ = ["save"]

Progress = Callable[[int, int], None]

_EXTERNAL_FROM_BYTES = 1_900_000_000  # leaves room for the graph below protobuf's 2 GiB
_SMALL_BYTES = 1024  # smaller tensors are kept in the model file
_PAGE_BYTES = 4096
_ALIGN_BYTES = 16


def save(
    model: onnx_ir.Model,
    path: str | os.PathLike[str],
    *,
    external: bool | None = None,
    progress: Progress | None = None,
) -> tuple[Path, ...]:
    """Writes a model so that the files appear complete or not at all.

    Tensors are written one at a time and lazy ones are dropped again, so that memory stays at
    about the largest tensor. Tensors that are one object, or one place of an external file, are
    stored once. In external data, tensors of a page or more start on a page of 4,096 bytes, so
    that they can be mapped.

    Args:
        model: Unchanged after the call.
        path: File to write; its extension tells the format as onnx does.
        external: Whether weights of 1 KiB and more go to `<name>.data` beside the model. By
            default they do when they are above 1.9 GB, or came from external data.
        progress: Called with (bytes written, bytes of all weights) after each tensor.

    Returns:
        The files written, the model first.

    Raises:
        OutputError: The path cannot be written, the disk is full, a file would replace data that
            the model still reads, or the model is too large to go without external data.
        CheckError: A lazy tensor evaluates to another dtype or size than it declared.
    """
    target = Path(path)
    check_destination(target)
    data = target.with_name(f"{target.name}.data")
    tensors = list(all_tensors(model))
    sources = _source_files(model, tensors)
    _refuse_source(target, sources)
    format_ = format_of(target)
    if format_ != "protobuf":
        return _save_text(model, target, format_)
    with paused_gc():
        weights = _large_tensors(tensors)
        size = sum(tensor.nbytes for tensor in weights)
        if external is None:
            external = size > _EXTERNAL_FROM_BYTES or bool(sources)
        if not external or not weights:
            return _save_embedded(model, tensors, target, size, progress)
        check_destination(data)
        _refuse_source(data, sources)
        return _save_external(model, target, data, weights, progress)


def _save_embedded(
    model: onnx_ir.Model,
    tensors: list[onnx_ir.TensorProtocol],
    target: Path,
    size: int,
    progress: Progress | None,
) -> tuple[Path, ...]:
    elsewhere = _used_outside_main_initializers(model, tensors)
    streamed = [
        tensor if _is_large(tensor) and id(tensor) not in elsewhere else None
        for value in model.graph.initializers.values()
        if (tensor := value.const_value) is not None
    ]
    streamed_ids = {id(tensor) for tensor in streamed if tensor is not None}
    if sum(tensor.nbytes for tensor in tensors) > PROTOBUF_LIMIT:
        raise _too_large(target)

    def stand_in(tensor: onnx_ir.TensorProtocol) -> onnx_ir.TensorProtocol:
        return _stub(tensor, "", None) if id(tensor) in streamed_ids else in_memory(tensor)

    embedded = EmbeddedModel(serialized(model, stand_in), streamed)
    if embedded.size > PROTOBUF_LIMIT:
        raise _too_large(target)
    report = _Reporter(progress, size)
    with Destination() as destination, destination.file(target) as file:
        embedded.write(file, report.advance)
    return (target,)


def _save_external(
    model: onnx_ir.Model,
    target: Path,
    data: Path,
    weights: list[onnx_ir.TensorProtocol],
    progress: Progress | None,
) -> tuple[Path, ...]:
    stubs, layout = _lay_out(weights, data.name)
    report = _Reporter(progress, sum(tensor.nbytes for tensor, _ in layout))
    proto = serialized(model, lambda tensor: stubs.get(id(tensor)) or in_memory(tensor))
    content = proto.SerializeToString(deterministic=True)
    with Destination() as destination:
        with destination.file(data) as file:
            end = 0
            for tensor, offset in layout:
                file.write(bytes(offset - end))
                write_tensor(file, tensor)
                end = offset + tensor.nbytes
                report.advance(tensor.nbytes)
        with destination.file(target) as file:
            file.write(content)
    return target, data


def _save_text(model: onnx_ir.Model, target: Path, format_: str) -> tuple[Path, ...]:
    content = onnx.serialization.registry.get(format_).serialize_proto(to_proto(model))
    with Destination() as destination, destination.file(target) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return (target,)


class _Reporter:
    """Counts written bytes for a progress callback."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def advance(self, nbytes: int) -> None:
        self._done += nbytes
        if self._progress is not None:
            self._progress(self._done, self._total)


def _lay_out(
    weights: list[onnx_ir.TensorProtocol], location: str
) -> tuple[dict[int, onnx_ir.ExternalTensor], list[tuple[onnx_ir.TensorProtocol, int]]]:
    """Gives each distinct tensor its offset; returns stand-ins by id, and (tensor, offset)."""
    stubs: dict[int, onnx_ir.ExternalTensor] = {}
    layout: list[tuple[onnx_ir.TensorProtocol, int]] = []
    offsets: dict[object, int] = {}
    end = 0
    for tensor in weights:
        key = _storage_key(tensor)
        if key not in offsets:
            align = _PAGE_BYTES if tensor.nbytes >= _PAGE_BYTES else _ALIGN_BYTES
            offsets[key] = -(-end // align) * align
            end = offsets[key] + tensor.nbytes
            layout.append((tensor, offsets[key]))
        stubs[id(tensor)] = _stub(tensor, location, offsets[key])
    return stubs, layout


def _storage_key(tensor: onnx_ir.TensorProtocol) -> object:
    if isinstance(tensor, onnx_ir.ExternalTensor):
        return tensor.path, tensor.offset or 0, tensor.nbytes
    return id(tensor)


def _stub(
    tensor: onnx_ir.TensorProtocol, location: str, offset: int | None
) -> onnx_ir.ExternalTensor:
    return onnx_ir.ExternalTensor(
        location,
        offset=offset,
        length=tensor.nbytes,
        dtype=tensor.dtype,
        shape=onnx_ir.Shape(tensor.shape.numpy()),
        name=tensor.name or "",
        doc_string=tensor.doc_string,
        metadata_props=dict(tensor.metadata_props),
    )


def _is_large(tensor: onnx_ir.TensorProtocol) -> bool:
    return tensor.dtype != DataType.STRING and tensor.nbytes >= _SMALL_BYTES


def _large_tensors(tensors: list[onnx_ir.TensorProtocol]) -> list[onnx_ir.TensorProtocol]:
    return list({id(tensor): tensor for tensor in tensors if _is_large(tensor)}.values())


def _used_outside_main_initializers(
    model: onnx_ir.Model, tensors: list[onnx_ir.TensorProtocol]
) -> set[int]:
    uses = Counter(map(id, tensors))
    uses.subtract(id(value.const_value) for value in model.graph.initializers.values())
    return {key for key, count in uses.items() if count > 0}


def _source_files(model: onnx_ir.Model, tensors: list[onnx_ir.TensorProtocol]) -> set[Path]:
    """Data files that tensors still read from, also through lazy ones."""
    found: set[Path] = set(model.meta.get(EXTERNAL_PATHS) or ())
    found.update(
        Path(tensor.path) for tensor in tensors if isinstance(tensor, onnx_ir.ExternalTensor)
    )
    return found


def _refuse_source(path: Path, sources: set[Path]) -> None:
    if path.exists() and any(source.exists() and path.samefile(source) for source in sources):
        raise OutputError(
            str(path),
            "holds weights that the model still reads from",
            "write to another name or folder",
        )


def _too_large(target: Path) -> OutputError:
    return OutputError(
        str(target), "is above the 2 GiB that one ONNX file can hold", "use external data"
    )
