"""From an execution provider to session arguments that really use it."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from mpgraph.errors import MissingDependencyError, TargetError
from mpgraph.runtime.ort import clashing_wheels, onnxruntime
from mpgraph.targets import Provider, Setting, find_provider

__all__ = ["CPU_PROVIDER", "add_settings", "provider_arguments", "provider_devices"]

CPU_PROVIDER = "CPUExecutionProvider"

# What a plugin that finds no device was looking for.
_DEVICES_OF = {
    "WebGpuExecutionProvider": "it needs a GPU with a Vulkan, Metal or Direct3D 12 driver, or a "
    "software Vulkan driver and ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER=1",
    # Plugin 1.8.1 offers none on an AMD EPYC.
    "OpenVINOExecutionProvider": "its plugin takes processors of Intel only; "
    "onnxruntime-openvino, in place of onnxruntime, takes others too",
}


def add_settings(options: Any, settings: Sequence[Setting]) -> None:
    """Put the settings that onnxruntime itself reads into ``options`` (a SessionOptions)."""
    for setting in settings:
        if setting.scope == "session":
            options.add_session_config_entry(setting.name, setting.value)


def provider_arguments(
    provider: Provider, settings: Sequence[Setting], options: Any
) -> dict[str, Any]:
    """Prepare ``options`` (a SessionOptions) for ``provider``; return more session arguments.

    Raises:
        TargetError: The provider is not usable on this machine.
        MissingDependencyError: The package that brings the provider is not installed.
    """
    given = _provider_options(settings)
    available = onnxruntime().get_available_providers()
    if provider.plugin and provider.name not in available:
        # providers=[...] would silently give the CPU alone, and take back what is added here.
        options.add_provider_for_devices(list(provider_devices(provider)[:1]), given)
        return {}
    if provider.name not in available:
        clash = clashing_wheels()
        hint = f"install mpgraph[{provider.extra}]"
        if len(clash) > 1:
            hint = f"{' and '.join(clash)} share one module: keep only the one that has it"
        raise TargetError(
            f"target {provider.target}",
            f"the installed onnxruntime has no {provider.name}",
            hint,
        )
    return {"providers": _with_what_is_behind(provider.name, given)}


def provider_devices(provider: Provider) -> Sequence[Any]:
    """The devices (``OrtEpDevice``) of a provider that a plugin brings; at least one.

    Raises:
        TargetError: The plugin does not load, or finds no device.
        MissingDependencyError: The plugin is not installed.
    """
    return _plugin_devices(provider.plugin, provider.name, provider.target, provider.extra)


def _provider_options(settings: Sequence[Setting]) -> dict[str, str]:
    options = {one.name: one.value for one in settings if one.scope == "provider"}
    compiler = {one.name: one.value for one in settings if one.scope == "compiler"}
    if compiler:
        options["load_config"] = json.dumps({"CPU": compiler})
    return options


def _with_what_is_behind(name: str, given: dict[str, str]) -> list[Any]:
    """The provider, then those that take the nodes it leaves, each with its own settings."""
    providers: list[Any] = [(name, given)]
    if name == "TensorrtExecutionProvider":
        cuda = find_provider("cuda")
        if cuda.name in onnxruntime().get_available_providers():
            providers.append((cuda.name, _provider_options(cuda.settings)))
    if name != CPU_PROVIDER:
        providers.append((CPU_PROVIDER, {}))
    return providers


@cache
def _plugin_devices(package: str, name: str, target: str, extra: str) -> Sequence[Any]:
    ort = onnxruntime()
    where = f"target {target}"
    try:
        plugin = importlib.import_module(package)
    except ImportError as error:
        raise MissingDependencyError(
            where, f"needs the package {package}", f"install mpgraph[{extra}]"
        ) from error
    if not _devices(name):
        try:
            ort.register_execution_provider_library(package, plugin.get_library_path())
        except Exception as error:
            raise TargetError(where, f"the library of {package} does not load: {error}") from error
    devices = _devices(name)
    if not devices:
        raise TargetError(
            where, f"{name} finds no device on this machine", _DEVICES_OF.get(name, "")
        )
    return devices


def _devices(name: str) -> list[Any]:
    return [device for device in onnxruntime().get_ep_devices() if device.ep_name == name]
