"""The probe of a plugin: its release comes from its distribution, its kernels in a fixed order."""

from __future__ import annotations

import importlib.metadata
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from mpgraph.targets import probe

WEBGPU = "WebGpuExecutionProvider"


def definition(since: int, until: int, *types: str) -> SimpleNamespace:
    return SimpleNamespace(
        domain="", op_name="Sub", version_range=(since, until), type_constraints={"T": types}
    )


def test_a_plugin_without_a_version_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin, runtime, state = (ModuleType(name) for name in ("plugin", "onnxruntime", "state"))
    found: Any = [
        definition(13, probe.OPEN_END, "tensor(float)"),
        definition(7, 12, "tensor(float16)", "tensor(float)"),
        definition(13, 13, "tensor(float)"),
    ]
    vars(plugin)["get_library_path"] = lambda: "library"
    vars(runtime).update(
        __version__="9.9", register_execution_provider_library=lambda name, path: None
    )
    vars(state)["get_registered_ep_kernel_defs"] = lambda provider: found
    capi = ModuleType("onnxruntime.capi")
    vars(capi)["onnxruntime_pybind11_state"] = state
    for name, module in (
        ("onnxruntime", runtime),
        ("onnxruntime.capi", capi),
        ("onnxruntime.capi.onnxruntime_pybind11_state", state),
        ("onnxruntime_ep_webgpu", plugin),
    ):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(importlib.metadata, "version", {"onnxruntime-ep-webgpu": "0.4.0"}.get)
    read = probe.read_kernels(WEBGPU)
    assert read["ort"] == "9.9_plugin0.4.0"
    assert read["kernels"] == {
        "ai.onnx::Sub": [
            [7, 12, {"T": ["tensor(float)", "tensor(float16)"]}],
            [13, 13, {"T": ["tensor(float)"]}],
            [13, None, {"T": ["tensor(float)"]}],
        ]
    }
