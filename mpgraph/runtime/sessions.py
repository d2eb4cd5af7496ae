"""Inference sessions: create one for a target, and run it for every ONNX dtype."""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import ml_dtypes
import numpy as np

from mpgraph import ir
from mpgraph.errors import ModelFileError, TargetError, VerificationError
from mpgraph.runtime.ort import onnxruntime, onnxruntime_state
from mpgraph.runtime.providers import provider_arguments, runtime_target

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["Feed", "create_session", "run", "session"]

Feed: TypeAlias = Mapping[str, Any]
"""Input name to array; a list of arrays for a sequence input, None for an empty optional."""

# A protobuf message cannot be larger than 2 GiB; leave room for the graph itself.
_PROTOBUF_BYTES = 1_900_000_000
_BFLOAT16 = int(ir.DataType.BFLOAT16)


def session(model: Any, target: str = "cpu") -> InferenceSession:
    """A session that runs ``model`` on ``target`` with all graph optimisations.

    Args:
        model: A path, the serialised bytes, an ``onnx.ModelProto`` or an ``ir.Model``.
        target: "cpu", "cuda", "webgpu", "openvino", "tensorrt", or a full provider name.

    Raises:
        TargetError, MissingDependencyError: The target cannot be used here.
        VerificationError: onnxruntime does not load the model.
    """
    if not isinstance(model, (str, os.PathLike, bytes, ir.Model)):
        model = ir.load(model)
    return create_session(model, target=target)


def create_session(
    model: ir.Model | str | os.PathLike[str] | bytes,
    *,
    target: str = "cpu",
    optimize: bool = True,
    threads: int = 0,
    optimized_path: Path | None = None,
    shapes_first: bool = False,
) -> InferenceSession:
    """Create a session and make sure that the provider of ``target`` is in it.

    Args:
        model: The model; one larger than 2 GB goes through a temporary folder.
        target: Short target name or full provider name.
        optimize: False for the graph as it is (casts for missing kernels are still inserted).
        threads: Threads inside one operator; 0 leaves the choice to onnxruntime.
        optimized_path: Where onnxruntime writes the graph that it will run; its weights go to
            ``<name>.data`` beside it.
        shapes_first: Run Shape nodes as soon as they can, so that what they look at is freed;
            in the default order they run last.

    Raises:
        TargetError, MissingDependencyError: The target cannot be used here.
        ModelFileError: The path is not a file.
        VerificationError: onnxruntime does not load the model.
    """
    ort = onnxruntime()
    wanted = runtime_target(target)
    options = ort.SessionOptions()
    levels = ort.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimize else levels.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    if optimized_path is not None:
        options.optimized_model_filepath = str(optimized_path)
        options.add_session_config_entry(
            "session.optimized_model_external_initializers_file_name", f"{optimized_path.name}.data"
        )
        options.add_session_config_entry(
            "session.optimized_model_external_initializers_min_size_in_bytes", "1024"
        )
    if shapes_first:
        options.execution_order = ort.ExecutionOrder.PRIORITY_BASED
    arguments = provider_arguments(wanted, options)
    with tempfile.TemporaryDirectory(prefix="mpgraph-") as folder:
        created = _open(_source(model, Path(folder)), options, arguments, _where(model))
    if wanted.provider not in created.get_providers():
        raise TargetError(
            f"target {wanted.name}",
            f"onnxruntime fell back to {', '.join(created.get_providers())}",
            "the libraries of the provider do not load; see onnxruntime's own log",
        )
    return created


def run(
    session: InferenceSession, feed: Feed, outputs: Sequence[str] | None = None
) -> dict[str, Any]:
    """Run once and return the outputs by name, bfloat16 ones as ``ml_dtypes.bfloat16`` arrays.

    Args:
        session: A session, on any provider.
        feed: One value per input; bfloat16 inputs as ``ml_dtypes.bfloat16`` arrays.
        outputs: The outputs wanted; None for all.

    Raises:
        VerificationError: onnxruntime fails while it runs the model.
    """
    names = [out.name for out in session.get_outputs()] if outputs is None else list(outputs)
    kinds = {out.name: out.type for out in session.get_outputs()}
    plain = not any(_is_bfloat16(value) for value in feed.values()) and not any(
        "bfloat16" in kinds[name] for name in names
    )
    try:
        if plain:
            return dict(zip(names, session.run(names, dict(feed)), strict=True))
        values = {name: _to_ort_value(value) for name, value in feed.items()}
        got = session.run_with_ort_values(names, values)
    except _failures() as error:
        raise VerificationError(
            "session", f"onnxruntime fails at run time: {_line(error)}"
        ) from error
    return {name: _from_ort_value(value) for name, value in zip(names, got, strict=True)}


def _source(model: ir.Model | str | os.PathLike[str] | bytes, folder: Path) -> str | bytes:
    if isinstance(model, bytes):
        return model
    if not isinstance(model, ir.Model):
        path = Path(model)
        if not path.is_file():
            raise ModelFileError(str(path), "is not a file")
        return str(path)
    if _weight_bytes(model) < _PROTOBUF_BYTES:
        return ir.to_bytes(model)
    path = folder / "model.onnx"
    ir.save(model, path, external=True)
    return str(path)


def _weight_bytes(model: ir.Model) -> int:
    total = 0
    for scope in ir.graphs(model):
        for value in scope.graph.initializers.values():
            if value.const_value is not None:
                total += value.const_value.nbytes
    return total


def _open(
    source: str | bytes, options: Any, arguments: Mapping[str, Any], where: str
) -> InferenceSession:
    try:
        return cast(
            "InferenceSession", onnxruntime().InferenceSession(source, options, **arguments)
        )
    except _failures() as error:
        raise VerificationError(where, f"onnxruntime does not load it: {_line(error)}") from error


def _failures() -> tuple[type[Exception], ...]:
    # The exception types of onnxruntime share no base class below Exception.
    state = onnxruntime_state()
    kinds = [kind for kind in vars(state).values() if isinstance(kind, type)]
    own = [kind for kind in kinds if issubclass(kind, Exception)]
    return (*own, RuntimeError, ValueError)


def _where(model: object) -> str:
    if isinstance(model, ir.Model):
        return f"model {model.graph.name or ''}".strip()
    return "model" if isinstance(model, bytes) else str(model)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:600]


def _is_bfloat16(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == ml_dtypes.bfloat16


def _to_ort_value(value: Any) -> Any:
    ort_value = onnxruntime().OrtValue
    if isinstance(value, list):
        raise VerificationError(
            "session", "a sequence input beside bfloat16 inputs or outputs cannot be fed"
        )
    # Not ascontiguousarray, which gives a scalar an axis.
    array = np.asarray(value, order="C")
    if array.dtype == ml_dtypes.bfloat16:
        return ort_value.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), _BFLOAT16)
    return ort_value.ortvalue_from_numpy(array)


def _from_ort_value(value: Any) -> Any:
    if not value.has_value():
        return None
    if not value.is_tensor():
        raise VerificationError(
            "session", "a sequence output beside bfloat16 inputs or outputs cannot be read"
        )
    if value.data_type() != "tensor(bfloat16)":
        return value.numpy()
    shape = tuple(value.shape())
    count = int(np.prod(shape, dtype=np.int64))
    if count == 0:
        return np.zeros(shape, ml_dtypes.bfloat16)
    # numpy() refuses bfloat16, so the bytes are copied from where onnxruntime keeps them.
    words = (ctypes.c_uint16 * count).from_address(value.data_ptr())
    copied = np.ctypeslib.as_array(words).copy()
    return copied.view(ml_dtypes.bfloat16).reshape(shape)
