"""Access to onnxruntime, which is an optional dependency and slow to import."""

from __future__ import annotations

import importlib
import importlib.metadata
import warnings
from functools import cache
from types import ModuleType

from mpgraph.errors import MissingDependencyError

__all__ = ["clashing_wheels", "onnxruntime", "onnxruntime_state"]

# All of these install the same import package; the last one installed wins.
_WHEELS = ("onnxruntime", "onnxruntime-gpu", "onnxruntime-directml", "onnxruntime-qnn")


@cache
def onnxruntime() -> ModuleType:
    """Import onnxruntime, once.

    Raises:
        MissingDependencyError: onnxruntime is not installed; the hint names the extras.
    """
    try:
        module = importlib.import_module("onnxruntime")
    except ImportError as error:
        raise MissingDependencyError(
            "onnxruntime",
            f"running a model needs onnxruntime, which does not import: {error}",
            "install mpgraph[cpu], or mpgraph[cuda] on a machine with an NVIDIA GPU",
        ) from error
    clash = clashing_wheels()
    if len(clash) > 1:
        warnings.warn(
            f"{' and '.join(clash)} are installed together and share one module, so that a "
            "provider can be lost: uninstall all of them, then install one",
            RuntimeWarning,
            stacklevel=2,
        )
    return module


@cache
def onnxruntime_state() -> ModuleType:
    """The pybind module of onnxruntime: operator schemas, kernel registry, exception types.

    Raises:
        MissingDependencyError: onnxruntime is not installed.
    """
    onnxruntime()
    return importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")


def clashing_wheels() -> tuple[str, ...]:
    """The installed distributions that bring the module ``onnxruntime``; two are a fault."""
    found = []
    for name in _WHEELS:
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        found.append(name)
    return tuple(found)
