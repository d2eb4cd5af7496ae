"""Where the kernels of the installed onnxruntime are asked."""

from __future__ import annotations

import pytest

from mpgraph.errors import TargetError
from mpgraph.targets import live

onnxruntime = pytest.importorskip("onnxruntime", reason="looks at the installed onnxruntime")
CPU = "CPUExecutionProvider"


@pytest.mark.parametrize("other", ["CUDAExecutionProvider", "OpenVINOExecutionProvider"])
def test_a_build_with_another_provider_is_asked_in_a_child(
    monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [other, CPU])

    def dies(provider: str) -> None:
        raise TargetError(provider, "the child died")

    monkeypatch.setattr(live, "_ask_child", dies)
    monkeypatch.setattr(live.probe, "read_kernels", lambda provider: pytest.fail("asked here"))
    live.live_table.cache_clear()
    live.best_table.cache_clear()
    try:
        assert not live.best_table(CPU).live
        with pytest.raises(TargetError, match="the child died"):
            live.live_table(CPU)
    finally:
        live.live_table.cache_clear()
        live.best_table.cache_clear()


def test_the_plain_build_is_asked_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        onnxruntime, "get_available_providers", lambda: ["AzureExecutionProvider", CPU]
    )
    monkeypatch.setattr(live, "_ask_child", lambda provider: pytest.fail("asked a child"))
    live.live_table.cache_clear()
    try:
        assert live.live_table(CPU).live
    finally:
        live.live_table.cache_clear()
