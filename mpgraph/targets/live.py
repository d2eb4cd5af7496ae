"""Kernel tables read from the installed onnxruntime."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Mapping
from functools import cache

from mpgraph.errors import MissingDependencyError, TargetError
from mpgraph.targets import probe
from mpgraph.targets.kernels import KernelTable, load_table, table_from_json

__all__ = ["best_table", "live_table"]

EXTRAS = {
    "CUDAExecutionProvider": "cuda",
    "WebGpuExecutionProvider": "webgpu",
    "OpenVINOExecutionProvider": "openvino",
}
PROBE_SECONDS = 120

_HARMLESS = frozenset(["AzureExecutionProvider", "CPUExecutionProvider"])
"""What the plain build has. With any other provider in it, asking may kill the process."""


@cache
def live_table(provider: str) -> KernelTable:
    """The kernels of a provider as the installed onnxruntime registers them.

    A build with nothing but the CPU provider is asked in this process; any other in a child
    process, because asking kills the process where the provider's libraries do not load.

    Args:
        provider: Name of the provider in onnxruntime.

    Raises:
        MissingDependencyError: onnxruntime, or the plugin that brings the provider, is missing.
        TargetError: The runtime here does not have the provider, or its libraries do not load.
    """
    needed = ("onnxruntime", *filter(None, [probe.PLUGINS.get(provider)]))
    for module in needed:
        if importlib.util.find_spec(module) is None:
            raise MissingDependencyError(
                provider,
                f"its kernels are asked from {module}, which is not installed",
                f"pip install 'mpgraph[{EXTRAS.get(provider, 'cpu')}]', or use the shipped table",
            )
    if not _offered(provider):
        raise TargetError(
            provider, "the installed onnxruntime does not have it", "use the shipped table"
        )
    data = probe.read_kernels(provider) if _safe_here(provider) else _ask_child(provider)
    if not data["kernels"]:
        raise TargetError(
            provider, "it registers no kernels of its own", "it compiles whole subgraphs"
        )
    return table_from_json(data, provider, live=True)


@cache
def best_table(provider: str) -> KernelTable:
    """The live table where the provider can be asked here, else the shipped one.

    Raises:
        TargetError: There is neither.
    """
    try:
        return live_table(provider)
    except (MissingDependencyError, TargetError):
        return load_table(provider)


def _offered(provider: str) -> bool:
    import onnxruntime

    return provider in probe.PLUGINS or provider in onnxruntime.get_available_providers()


def _safe_here(provider: str) -> bool:
    if provider in probe.PLUGINS:
        return False
    import onnxruntime

    return _HARMLESS.issuperset(onnxruntime.get_available_providers())


def _ask_child(provider: str) -> Mapping[str, object]:
    command = [sys.executable, "-P", probe.__file__, provider]
    try:
        child = subprocess.run(
            command, capture_output=True, text=True, timeout=PROBE_SECONDS, check=True
        )
        data: Mapping[str, object] = json.loads(child.stdout)
    except (subprocess.SubprocessError, json.JSONDecodeError) as error:
        raise TargetError(
            provider, f"asking the installed onnxruntime failed: {error}", "use the shipped table"
        ) from error
    return data
