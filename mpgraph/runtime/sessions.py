"""Inference sessions: create one for a target, and run it for every ONNX dtype."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mpgraph import ir
from mpgraph.errors import ModelFileError, TargetError, VerificationError
from mpgraph.runtime.assignment import RECORD, foreign_nodes, read_assignment, words_for
from mpgraph.runtime.bound import Feed, run_arrays, session_class
from mpgraph.runtime.ort import onnxruntime
from mpgraph.runtime.providers import add_settings, provider_arguments
from mpgraph.runtime.source import Source, failures, model_name, model_source, one_line
from mpgraph.targets import Provider, find_provider, with_values

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["Feed", "create_session", "run", "session"]

_DISABLED = "optimization.disable_specified_optimizers"
_EXTERNAL_NAME = "session.optimized_model_external_initializers_file_name"
_EXTERNAL_FROM = "session.optimized_model_external_initializers_min_size_in_bytes"


def session(
    model: Any,
    target: str = "cpu",
    *,
    strict: bool = False,
    settings: Mapping[str, str] | None = None,
) -> InferenceSession:
    """A session that runs ``model`` on ``target`` with all graph optimisations.

    Its ``run`` takes and gives bfloat16 and float8 as arrays of ml_dtypes. It never goes over to
    another provider by itself: what fails on the target fails.

    Args:
        model: A path, the serialised bytes, an ``onnx.ModelProto`` or an ``ir.Model``.
        target: "cpu", "cuda", "webgpu", "openvino", "tensorrt", or a full provider name.
        strict: Refuse a model of which another provider takes a node.
        settings: Values for settings of the target, by the names that ``mpgraph targets NAME``
            lists; the others keep the values listed there.

    Raises:
        TargetError, MissingDependencyError: The target cannot be used here, or has no such setting.
        VerificationError: onnxruntime does not load the model, or with ``strict`` another provider
            takes a node; the nodes are named.

    Warns:
        RuntimeWarning: The target's provider takes no node at all.
    """
    if not isinstance(model, (str, os.PathLike, bytes, ir.Model)):
        model = ir.load(model)
    created = create_session(model, target=target, settings=settings, entries=(RECORD,))
    _check_assignment(created, find_provider(target), model_name(model), strict)
    return created


def create_session(
    model: Source,
    *,
    target: str = "cpu",
    optimize: bool = True,
    threads: int = 0,
    optimized_path: Path | None = None,
    shapes_first: bool = False,
    settings: Mapping[str, str] | None = None,
    entries: Sequence[tuple[str, str]] = (),
    profile_prefix: Path | None = None,
) -> InferenceSession:
    """Create a session and make sure that the provider of ``target`` is in it.

    Args:
        model: The model; one larger than 64 MB goes through a temporary folder.
        target: Short target name or full provider name.
        optimize: False for the graph as it is (casts for missing kernels are still inserted).
        threads: Threads inside one operator; 0 leaves the choice to onnxruntime.
        optimized_path: Where onnxruntime writes the graph that it will run, with the constants
            below 1 KiB; larger ones are not kept where the system can throw them away.
        shapes_first: Run Shape nodes as soon as they can, so that what they look at is freed;
            in the default order they run last.
        settings: Values for settings of the target, by name.
        entries: More session config entries.
        profile_prefix: Where onnxruntime writes its profile when ``end_profiling`` is called.

    Raises:
        TargetError, MissingDependencyError: The target cannot be used here, or has no such setting.
        ModelFileError: The path is not a file.
        VerificationError: onnxruntime does not load the model.
    """
    ort = onnxruntime()
    provider = find_provider(target)
    options = ort.SessionOptions()
    levels = ort.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimize else levels.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    if optimized_path is not None:
        _write_graph(options, optimized_path)
    if shapes_first:
        options.execution_order = ort.ExecutionOrder.PRIORITY_BASED
    if profile_prefix is not None:
        options.enable_profiling = True
        options.profile_file_prefix = str(profile_prefix)
    for name, value in entries:
        options.add_session_config_entry(name, value)
    if optimize and provider.target == "cpu" and _mentions_float16(model):
        # It makes a FusedMatMul that has no float16 kernel, and the process dies of it.
        options.add_session_config_entry(_DISABLED, "MatmulTransposeFusion")
    arguments = _prepare(provider, settings, options)
    name = model_name(model)
    if provider.target == "webgpu":
        # onnxruntime keeps a constant on the CPU if a node there reads it, and hands it over from
        # there to the nodes in a body, which WebGPU then refuses to run.
        model = ir.with_body_constants(model) or model
    # A system may refuse to delete a file that the session still maps.
    with tempfile.TemporaryDirectory(prefix="mpgraph-", ignore_cleanup_errors=True) as folder:
        created = _open(model_source(model, Path(folder)), options, arguments, name)
    if provider.name not in created.get_providers():
        raise TargetError(
            f"target {provider.target}",
            f"onnxruntime fell back to {', '.join(created.get_providers())}",
            "the libraries of the provider do not load; see onnxruntime's own log",
        )
    return created


def _mentions_float16(model: Source) -> bool:
    try:
        return ir.mentions_dtype(model, ir.DataType.FLOAT16)
    except ModelFileError:
        # onnxruntime says what is wrong with it, or reads a format of its own.
        return False


def run(
    session: InferenceSession, feed: Feed, outputs: Sequence[str] | None = None
) -> dict[str, Any]:
    """Run once and return the outputs by name, bfloat16 and float8 as arrays of ml_dtypes.

    Args:
        session: A session, on any provider.
        feed: One value per input; bfloat16 and float8 as arrays of ml_dtypes.
        outputs: The outputs wanted; None for all.

    Raises:
        VerificationError: onnxruntime fails while it runs the model.
    """
    names = [out.name for out in session.get_outputs()] if outputs is None else list(outputs)
    try:
        return dict(zip(names, run_arrays(session, names, feed), strict=True))
    except failures() as error:
        raise VerificationError(
            "session", f"onnxruntime fails at run time: {one_line(error)}"
        ) from error


def _open(
    source: str | bytes, options: Any, arguments: Mapping[str, Any], where: str
) -> InferenceSession:
    try:
        return cast(
            "InferenceSession",
            # Else a failure of the provider, now or in a run, leads to the CPU without an error.
            session_class()(source, options, enable_fallback=0, **arguments),
        )
    except failures() as error:
        raise VerificationError(
            where, f"onnxruntime does not load it: {one_line(error)}"
        ) from error


def _write_graph(options: Any, path: Path) -> None:
    """Have the graph that will run written to ``path``, and its weights nowhere if possible."""
    options.optimized_model_filepath = str(path)
    weights = path.with_name(f"{path.name}.data")
    if os.name == "posix":
        weights.unlink(missing_ok=True)
        weights.symlink_to(os.devnull)
    options.add_session_config_entry(_EXTERNAL_NAME, weights.name)
    options.add_session_config_entry(_EXTERNAL_FROM, "1024")


def _prepare(
    provider: Provider, settings: Mapping[str, str] | None, options: Any
) -> dict[str, Any]:
    """Put provider and settings into ``options``; returns more session arguments."""
    chosen = with_values(provider.settings, settings or {}, f"target {provider.target}")
    add_settings(options, chosen)
    return provider_arguments(provider, chosen, options)


def _check_assignment(
    created: InferenceSession, provider: Provider, where: str, strict: bool
) -> None:
    assigned = read_assignment(created)
    foreign = foreign_nodes(assigned, provider.name)
    if strict and foreign:
        others = ", ".join(sorted({node.provider for node in foreign}))
        raise VerificationError(
            where,
            f"{len(foreign)} of {len(assigned)} nodes are not on {provider.name} but on {others}: "
            f"{words_for(foreign)}",
            "without strict they run there",
        )
    if foreign and len(foreign) == len(assigned):
        warnings.warn(
            f"{where}: {provider.name} takes none of its {len(assigned)} nodes; "
            f"{foreign[0].provider} runs them",
            RuntimeWarning,
            stacklevel=3,
        )
