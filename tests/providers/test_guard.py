from __future__ import annotations

import pytest

from tests.providers import availability, conftest
from tests.providers.device import F16, finite, ulps


def test_an_absent_provider_skips_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conftest, "absence", lambda target: f"{target} is not here")
    monkeypatch.delenv(conftest.REQUIRED, raising=False)
    with pytest.raises(pytest.skip.Exception, match="webgpu is not here"):
        conftest.require("webgpu")


def test_an_absent_provider_fails_where_it_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conftest, "absence", lambda target: f"{target} is not here")
    monkeypatch.setenv(conftest.REQUIRED, "openvino,webgpu")
    with pytest.raises(pytest.fail.Exception, match="webgpu is not here"):
        conftest.require("webgpu")


def test_a_usable_provider_neither_skips_nor_fails() -> None:
    pytest.importorskip("onnxruntime", reason="runs a MatMul on the CPU provider")
    assert availability.absence("cpu") == ""
    conftest.require("cpu")


def test_the_command_tells_by_its_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnxruntime", reason="runs a MatMul on the CPU provider")
    assert availability.main(["cpu"]) == 0
    assert capsys.readouterr().out.startswith("cpu: computes (onnxruntime")
    assert availability.main(["tensorrt"]) == 1
    assert "tensorrt cannot be used here: " in capsys.readouterr().out


def test_neighbours_are_one_ulp_apart() -> None:
    values = finite(F16)
    assert values.size == 2 * 31 * 1024
    ordered = values[values > 0]
    assert ulps(ordered[1:], ordered[:-1]) == 1
    assert ulps(-ordered[:1], ordered[:1]) == 2
