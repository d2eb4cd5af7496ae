"""Reading and writing models for tools that take a protobuf message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["IN_MEMORY_LIMIT", "read", "total_bytes", "upgraded", "write"]

IN_MEMORY_LIMIT = 1_900_000_000
"""Above this a message cannot be serialised, so that weights stay in files of their own."""


def total_bytes(path: str) -> int:
    """The size of a model with its external data."""
    file = Path(path)
    return sum(one.stat().st_size for one in file.parent.glob(f"{file.name}*"))


def read(path: str) -> Any:
    """Load a model with its weights."""
    import onnx

    return onnx.load(path)


def write(model: Any, path: str) -> None:
    """Save a model, with external data where it is too large for one message."""
    import onnx

    is_large = _weight_bytes(model) > IN_MEMORY_LIMIT
    onnx.save_model(
        model,
        path,
        save_as_external_data=is_large,
        location=f"{Path(path).name}.data" if is_large else None,
    )


def upgraded(source: str, path: str, opset: int) -> tuple[str, str]:
    """A model of at least ``opset`` by ONNX's own converter.

    Returns:
        The path of the model to use, ``source`` itself where it is new enough or too large or the
        converter fails; and a remark on what was not done.
    """
    import onnx
    from onnx import version_converter

    if total_bytes(source) > IN_MEMORY_LIMIT:
        return source, ""
    model = onnx.load(source)
    current = next((one.version for one in model.opset_import if one.domain in ("", "ai.onnx")), 0)
    if current >= opset:
        return source, ""
    try:
        onnx.save(version_converter.convert_version(model, opset), path)
    except Exception as error:
        return source, f"opset {current} kept: {type(error).__name__}"
    return path, ""


def _weight_bytes(model: Any) -> int:
    return sum(len(tensor.raw_data) for tensor in model.graph.initializer)
