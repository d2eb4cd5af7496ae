"""What is installed for a target."""

from __future__ import annotations

import importlib.util

import pytest

from mpgraph.targets import find_installed, find_provider


def test_the_plugin_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    hidden = "onnxruntime_ep_webgpu"
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == hidden else real(name)
    )
    missing = find_installed(find_provider("webgpu")).missing
    assert missing in ("onnxruntime-ep-webgpu is not installed", "onnxruntime is not installed")


def test_without_onnxruntime_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None)
    for name in ("cpu", "webgpu"):
        assert find_installed(find_provider(name)).missing == "onnxruntime is not installed"


def test_the_installed_runtime_has_the_cpu() -> None:
    pytest.importorskip("onnxruntime", reason="looks at the installed onnxruntime")
    found = find_installed(find_provider("cpu"))
    assert not found.missing
    assert any(text.startswith("onnxruntime") for text in found.runtime)


def test_a_runtime_with_the_provider_built_in_needs_no_plugin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="looks at the installed onnxruntime")
    provider = find_provider("openvino")
    there = [provider.name, "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: there)
    assert find_installed(provider).missing == ""
