"""Device facts read from the texts that Linux and the NVIDIA driver give."""

from __future__ import annotations

import pytest

from mpgraph.targets import device
from mpgraph.targets.device import Gpu, read_features, read_gpus


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "processor\t: 0\nflags\t\t: fpu avx avx2 avx512_vnni amx_bf16 sse\n",
            {"avx", "avx2", "avx512_vnni", "amx_bf16"},
        ),
        ("Features\t: fp asimd asimddp bf16\n", {"asimd", "asimddp", "bf16"}),
        ("flags\t\t: fpu\n", set()),
    ],
)
def test_features(text: str, expected: set[str]) -> None:
    assert read_features(text) == expected


def test_no_list_of_features_is_not_an_empty_list() -> None:
    assert read_features("model name : x\n") is None


def test_gpus() -> None:
    listing = "NVIDIA H200, 9.0, 580.1\n\nSome warning\nNVIDIA T4, 7.5, 580.1\n"
    assert read_gpus(listing) == (
        Gpu("NVIDIA H200", "9.0", "580.1"),
        Gpu("NVIDIA T4", "7.5", "580.1"),
    )
    assert read_gpus("") == ()


def test_without_the_driver_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device.shutil, "which", lambda program: None)
    device.nvidia_gpus.cache_clear()
    try:
        assert device.nvidia_gpus() == ()
    finally:
        device.nvidia_gpus.cache_clear()


def test_this_machine_has_a_name() -> None:
    assert device.cpu_name()
