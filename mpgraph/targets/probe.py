"""Asks the installed onnxruntime for the kernels of one provider.

Also a script of its own, without imports from mpgraph, so that `live.py` can ask a build that may
crash (CUDA without its libraries, a GPU plugin without a device) from a child process.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import sys

OPEN_END = 2**31 - 1
PLUGINS = {
    "WebGpuExecutionProvider": "onnxruntime_ep_webgpu",
    "OpenVINOExecutionProvider": "onnxruntime_ep_openvino",
}

Registration = list[object]


def read_kernels(provider: str) -> dict[str, object]:
    """The registrations of a provider in the JSON form of the shipped tables.

    Args:
        provider: Name of the provider in onnxruntime.
    """
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    version = str(onnxruntime.__version__)
    plugin = PLUGINS.get(provider)
    if plugin is None:
        definitions = [d for d in state.get_all_opkernel_def() if d.provider == provider]
    else:
        module = importlib.import_module(plugin)
        onnxruntime.register_execution_provider_library(provider, module.get_library_path())
        definitions = list(state.get_registered_ep_kernel_defs(provider))
        # Not every plugin module has a __version__; its distribution always has one.
        release = importlib.metadata.version(plugin.replace("_", "-"))
        version = f"{version}_plugin{release}"

    kernels: dict[str, list[Registration]] = {}
    for definition in definitions:
        since, until = definition.version_range
        types = {name: sorted(found) for name, found in sorted(definition.type_constraints.items())}
        name = f"{definition.domain or 'ai.onnx'}::{definition.op_name}"
        entry: Registration = [since, None if until >= OPEN_END else until, types]
        kernels.setdefault(name, []).append(entry)
    return {
        "ep": provider,
        "ort": version,
        "kernels": {name: sorted(kernels[name], key=_order) for name in sorted(kernels)},
    }


def _order(entry: Registration) -> tuple[object, object, str]:
    """By versions, an open end last, then by types, so that the same kernels give the same text."""
    since, until, types = entry
    return since, OPEN_END if until is None else until, json.dumps(types)


if __name__ == "__main__":
    json.dump(read_kernels(sys.argv[1]), sys.stdout)
