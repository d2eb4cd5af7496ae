"""What is installed here for a provider, told from the installed packages."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from dataclasses import dataclass

from mpgraph.targets.provider import Provider

__all__ = ["Installed", "distribution_of", "find_installed"]

_RUNTIMES = (
    "onnxruntime",
    "onnxruntime-gpu",
    "onnxruntime-directml",
    "onnxruntime-openvino",
    "onnxruntime-qnn",
)


@dataclass(frozen=True, slots=True)
class Installed:
    """What there is for one provider.

    Attributes:
        runtime: The onnxruntime distributions and their versions; more than one is a fault.
        plugin: The plugin distribution and its version; empty where none is needed or installed.
        missing: What is missing, as a phrase; empty where sessions can be tried.
    """

    runtime: tuple[str, ...]
    plugin: str
    missing: str


def find_installed(provider: Provider) -> Installed:
    """Look for the packages of a provider; whether its device is there only a session tells."""
    runtime = tuple(filter(None, map(_with_version, _RUNTIMES)))
    plugin = _with_version(distribution_of(provider.plugin)) if provider.plugin else ""
    return Installed(runtime, plugin, _missing(provider))


def distribution_of(module: str) -> str:
    """The distribution that brings the module of a plugin."""
    return module.replace("_", "-")


def _missing(provider: Provider) -> str:
    if importlib.util.find_spec("onnxruntime") is None:
        return "onnxruntime is not installed"
    import onnxruntime

    if provider.name in onnxruntime.get_available_providers():
        return ""
    if not provider.plugin:
        return f"the installed onnxruntime has no {provider.name}"
    is_there = importlib.util.find_spec(provider.plugin) is not None
    return "" if is_there else f"{distribution_of(provider.plugin)} is not installed"


def _with_version(distribution: str) -> str:
    try:
        return f"{distribution} {importlib.metadata.version(distribution)}"
    except importlib.metadata.PackageNotFoundError:
        return ""
