"""What onnxruntime is given to load, and what it raises when it does not like it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias

from mpgraph import ir
from mpgraph.errors import ModelFileError
from mpgraph.runtime.ort import onnxruntime_state

__all__ = ["Source", "failures", "model_name", "model_source", "one_line"]

Source: TypeAlias = ir.Model | str | os.PathLike[str] | bytes
"""An IR model, a path, or the bytes of a serialised model."""

# A weight in a message is in memory several times over while a session is made, and a message
# holds no more than 2 GiB; onnxruntime maps a file.
_LARGEST_MESSAGE = 64_000_000


def model_source(model: Source, folder: Path) -> str | bytes:
    """What onnxruntime loads: a path or bytes; a model over 64 MB is written to ``folder``.

    Raises:
        ModelFileError: The path is not a file.
    """
    if isinstance(model, bytes):
        return model
    if not isinstance(model, ir.Model):
        path = Path(model)
        if not path.is_file():
            raise ModelFileError(str(path), "is not a file")
        return str(path)
    if _weight_bytes(model) < _LARGEST_MESSAGE:
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


def failures() -> tuple[type[Exception], ...]:
    """What onnxruntime raises when it loads or runs a model."""
    # The exception types of onnxruntime share no base class below Exception.
    state = onnxruntime_state()
    kinds = [kind for kind in vars(state).values() if isinstance(kind, type)]
    own = [kind for kind in kinds if issubclass(kind, Exception)]
    return (*own, RuntimeError, ValueError)


def model_name(model: object) -> str:
    """How an error speaks of the model."""
    if isinstance(model, ir.Model):
        return f"model {model.graph.name or ''}".strip()
    return "model" if isinstance(model, bytes) else str(model)


def one_line(error: BaseException) -> str:
    """The text of an error in one line of at most 600 characters."""
    return " ".join(str(error).split())[:600]
