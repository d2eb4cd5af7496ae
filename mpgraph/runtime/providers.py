"""From a target name to session options that really use its execution provider."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from mpgraph.errors import MissingDependencyError, TargetError
from mpgraph.runtime.ort import clashing_wheels, onnxruntime

__all__ = ["RuntimeTarget", "provider_arguments", "runtime_target"]


@dataclass(frozen=True, slots=True)
class RuntimeTarget:
    """How one target is reached: its provider, and the plugin package that brings it, if any."""

    name: str
    provider: str
    extra: str
    plugin: str = ""
    options: tuple[tuple[str, str], ...] = ()


# OpenVINO computes float32 models in bfloat16 where the CPU can, unless told otherwise.
_OPENVINO_EXACT = '{"CPU":{"INFERENCE_PRECISION_HINT":"f32"}}'

_TARGETS = (
    RuntimeTarget("cpu", "CPUExecutionProvider", "cpu"),
    RuntimeTarget("cuda", "CUDAExecutionProvider", "cuda"),
    RuntimeTarget("tensorrt", "TensorrtExecutionProvider", "cuda"),
    RuntimeTarget("webgpu", "WebGpuExecutionProvider", "webgpu", "onnxruntime_ep_webgpu"),
    RuntimeTarget(
        "openvino",
        "OpenVINOExecutionProvider",
        "openvino",
        "onnxruntime_ep_openvino",
        (("load_config", _OPENVINO_EXACT),),
    ),
)


def runtime_target(name: str) -> RuntimeTarget:
    """The target called ``name`` (short or full provider name, any case).

    Raises:
        TargetError: No such target.
    """
    wanted = name.casefold()
    for target in _TARGETS:
        if wanted in (target.name.casefold(), target.provider.casefold()):
            return target
    known = ", ".join(target.name for target in _TARGETS)
    raise TargetError(f"target {name!r}", "is unknown", f"targets that run models: {known}")


def provider_arguments(target: RuntimeTarget, options: Any) -> dict[str, Any]:
    """Prepare ``options`` (a SessionOptions) for ``target``; return more session arguments.

    Raises:
        TargetError: The provider is not usable on this machine.
        MissingDependencyError: The package that brings the provider is not installed.
    """
    if target.plugin:
        devices = _plugin_devices(target.plugin, target.provider, target.extra)
        options.add_provider_for_devices(list(devices[:1]), dict(target.options))
        return {}
    if target.provider not in onnxruntime().get_available_providers():
        clash = clashing_wheels()
        hint = f"install mpgraph[{target.extra}]"
        if len(clash) > 1:
            hint = f"{' and '.join(clash)} share one module: keep only the one that has it"
        raise TargetError(
            f"target {target.name}",
            f"the installed onnxruntime has no {target.provider}",
            hint,
        )
    # The CPU provider is always there as the fallback for nodes without a kernel.
    providers = dict.fromkeys((target.provider, "CPUExecutionProvider"))
    return {"providers": list(providers)}


@cache
def _plugin_devices(package: str, provider: str, extra: str) -> Sequence[Any]:
    ort = onnxruntime()
    try:
        plugin = importlib.import_module(package)
    except ImportError as error:
        raise MissingDependencyError(
            f"target {extra}", f"needs the package {package}", f"install mpgraph[{extra}]"
        ) from error
    try:
        ort.register_execution_provider_library(package, plugin.get_library_path())
    except Exception as error:
        raise TargetError(
            f"target {extra}", f"the library of {package} does not load: {error}"
        ) from error
    devices = [device for device in ort.get_ep_devices() if device.ep_name == provider]
    if not devices:
        raise TargetError(f"target {extra}", f"{provider} finds no device on this machine")
    return devices
