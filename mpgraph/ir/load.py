"""Loads a model, or says in one line why it cannot be used."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import onnx_ir
from onnx import ModelProto, TensorProto
from onnx_ir import serde

from mpgraph.errors import InvalidModelError, ModelFileError, VerificationError
from mpgraph.ir.checker import checker_finding, stubbed
from mpgraph.ir.clone import clone
from mpgraph.ir.external import check_external_data, location_of, outside_reason
from mpgraph.ir.files import read_proto
from mpgraph.ir.guards import refuse_unsupported
from mpgraph.ir.memory import paused_gc
from mpgraph.ir.repair import repair, set_types_aside
from mpgraph.ir.shadowing import rename_shadowing_values
from mpgraph.ir.tensors import all_tensors
from mpgraph.ir.verifier import verify_structure
from mpgraph.ir.walk import Survey, survey

__all__ = ["EXTERNAL_PATHS", "load", "load_copy", "load_with_refusals"]

EXTERNAL_PATHS = "mpgraph.external_paths"
"""Key in `model.meta` of the data files a model was loaded with: `frozenset[Path]`."""


def load(source: str | os.PathLike[str] | ModelProto | onnx_ir.Model) -> onnx_ir.Model:
    """Loads a model from a file or a proto; an IR model is returned as it is.

    External tensors stay on disk until they are read. The given proto is copied, never kept.
    Text formats (.textproto, .json, .onnxtxt) are told by the extension, as onnx does.

    Raises:
        ModelFileError: The file or its external data is missing, unreadable, no ONNX, truncated,
            or outside of the model's folder.
        InvalidModelError: The model breaks the ONNX specification, or holds training information
            or sparse tensors, which would be lost.
    """
    if isinstance(source, onnx_ir.Model):
        return source
    with paused_gc():
        if isinstance(source, ModelProto):
            return _from_caller(source)
        path = Path(source)
        proto = read_proto(path)
        return _from_file(path, proto, survey(proto), {})


def load_copy(source: str | os.PathLike[str] | ModelProto | onnx_ir.Model) -> onnx_ir.Model:
    """Loads a model to change: as ``load``, but an IR model is cloned.

    Raises:
        ModelFileError: As for ``load``.
        InvalidModelError: As for ``load``.
    """
    return clone(source) if isinstance(source, onnx_ir.Model) else load(source)


def load_with_refusals(
    source: str | os.PathLike[str] | ModelProto | onnx_ir.Model,
) -> tuple[onnx_ir.Model, dict[str, str]]:
    """Loads a model to look at, even if some of its data lies where `load` refuses to read.

    Such tensors keep their types and shapes, and raise when their content is read.

    Returns:
        The model, and for each location of external data outside of its folder, the reason why it
        is refused.

    Raises:
        ModelFileError, InvalidModelError: As `load`, for everything else that is wrong.
    """
    if isinstance(source, onnx_ir.Model | ModelProto):
        return load(source), {}
    with paused_gc():
        path = Path(source)
        proto = read_proto(path)
        found = survey(proto)
        folder = path.absolute().parent
        locations = {location for one in found.tensors() if (location := location_of(one))}
        reasons = {location: outside_reason(location, folder) for location in sorted(locations)}
        refused = {location: reason for location, reason in reasons.items() if reason}
        return _from_file(path, proto, found, refused), refused


def _from_file(
    path: Path, proto: ModelProto, found: Survey, refused: Mapping[str, str]
) -> onnx_ir.Model:
    folder = path.absolute().parent
    read = (tensor for tensor in found.tensors() if location_of(tensor) not in refused)
    data_files = check_external_data(read, folder, str(path))
    model = _checked_model(proto, found, str(path))
    if data_files:
        model.meta[EXTERNAL_PATHS] = data_files
    if data_files or refused:
        for tensor in all_tensors(model):
            if isinstance(tensor, onnx_ir.ExternalTensor):
                # onnx-ir's own load leaves out functions, and a folder of "" switches off its
                # checks of where the data lies.
                tensor.base_dir = folder
    return model


def _from_caller(source: ModelProto) -> onnx_ir.Model:
    tensors = survey(source).tensors()
    if any(tensor.data_location == TensorProto.EXTERNAL for tensor in tensors):
        raise ModelFileError(
            "the given ModelProto",
            "has external data, but a proto does not say in which folder",
            "give the path of the model, or load the data into the proto first",
        )
    proto = ModelProto()
    proto.CopyFrom(source)
    return _checked_model(proto, survey(proto), "the given ModelProto")


def _checked_model(proto: ModelProto, found: Survey, where: str) -> onnx_ir.Model:
    refuse_unsupported(proto, found, where)
    repair(proto, found, where)
    finding = checker_finding(stubbed(proto, found), full=False)
    if finding is not None:
        raise InvalidModelError(where, f"is not a valid ONNX model: {finding}")
    set_types_aside(found)
    try:
        model = serde.deserialize_model(proto)
    except serde.SerdeError as error:
        raise InvalidModelError(where, f"is not supported: {_root_cause(error)}") from error
    if found.holds_subgraphs:
        rename_shadowing_values(model)
    try:
        verify_structure(model)
    except VerificationError as error:
        raise InvalidModelError(where, f"{error.where}: {error.rule}", error.hint) from error
    return model


def _root_cause(error: BaseException) -> str:
    """The innermost cause; the outer texts of onnx-ir print whole graphs."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split())[:300]
