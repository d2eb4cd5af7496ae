"""Models compiled ahead of time: a file whose nodes hold what the provider made of the graph."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mpgraph import ir
from mpgraph.errors import OutputError, TargetError, VerificationError
from mpgraph.ir.destination import check_destination
from mpgraph.runtime.ort import onnxruntime
from mpgraph.runtime.placement.graph_nodes import read_graph
from mpgraph.runtime.providers import add_settings, provider_arguments
from mpgraph.runtime.source import failures, model_name, model_source, one_line
from mpgraph.targets import Provider, find_provider, with_values
from mpgraph.targets.provider import providers

__all__ = ["compile_model", "require_compiler"]

_CONTEXT = "EPContext"


def compile_model(
    model: ir.Model | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    target: str,
    settings: Mapping[str, str] | None = None,
) -> int:
    """Compile ``model`` for ``target`` and write it to ``path``, the compiled code inside.

    The file runs only with the same provider, release and kind of device.

    Args:
        model: An IR model, or the path of a model.
        path: The file to write, all or nothing; it must not be the input.
        target: A target whose provider compiles: see ``require_compiler``.
        settings: Values for settings of the target, by name.

    Returns:
        How many compiled pieces the file holds.

    Raises:
        TargetError, MissingDependencyError: The target compiles nothing, or cannot be used here.
        OutputError: The path cannot be written, or is the input.
        VerificationError: The model does not compile, or the provider takes none of its nodes.
    """
    provider = require_compiler(target)
    chosen = with_values(provider.settings, settings or {}, f"target {provider.target}")
    ort = onnxruntime()
    options = ort.SessionOptions()
    options.log_severity_level = 4
    add_settings(options, chosen)
    _add_provider(provider, chosen, options)
    destination = Path(path)
    if not isinstance(model, ir.Model) and destination.absolute() == Path(model).absolute():
        raise OutputError(str(path), "is the input itself", "give another path")
    check_destination(destination)
    # In the folder of the result, so that it can be moved there in one step.
    with tempfile.TemporaryDirectory(prefix=".mpgraph-", dir=destination.parent) as folder:
        written = Path(folder) / destination.name
        try:
            compiler = ort.ModelCompiler(
                options,
                model_source(model, Path(folder)),
                embed_compiled_data_into_model=True,
            )
            compiler.compile_to_file(str(written))
        except failures() as error:
            raise VerificationError(
                model_name(model), f"{provider.name} does not compile it: {one_line(error)}"
            ) from error
        pieces = _count_pieces(written)
        if not pieces:
            raise VerificationError(
                model_name(model),
                f"{provider.name} takes none of its nodes, so that there is nothing to compile",
            )
        written.replace(destination)
    return pieces


def require_compiler(target: str) -> Provider:
    """The provider of a target that can write compiled models.

    Raises:
        TargetError: The target is unknown, or its provider cannot.
    """
    provider = find_provider(target)
    if provider.saves_compiled:
        return provider
    able = ", ".join(one.target for one in providers() if one.saves_compiled)
    raise TargetError(
        f"target {provider.target}",
        f"{provider.name} runs models as they are and has no compiled form",
        f"targets that compile: {able}",
    )


def _add_provider(provider: Provider, settings: Any, options: Any) -> None:
    arguments = provider_arguments(provider, settings, options)
    for name, given in arguments.get("providers", ()):
        options.add_provider(name, given)


def _count_pieces(path: Path) -> int:
    if not path.is_file():
        return 0
    return sum(node.op_type == _CONTEXT for node in read_graph(path).nodes)
