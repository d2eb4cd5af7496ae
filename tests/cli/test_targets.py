"""`mpgraph targets`: the list, and one target with what really runs here."""

from __future__ import annotations

import json

import pytest

from mpgraph.report import target_facts
from mpgraph.targets import Installed, available_targets, get_target
from mpgraph.targets.device import Gpu
from tests.cli.conftest import Run, error_of

pytest.importorskip("onnxruntime", reason="asks the installed onnxruntime")


def test_the_list_fits_a_screen(mpgraph: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = mpgraph("targets")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert len(lines) <= 24
    assert all(len(line) <= 80 for line in lines)
    starts = [line.split()[0] for line in lines[1:6]]
    assert starts == list(available_targets())
    assert "onnxruntime" in lines[1]
    assert "CPU has" in result.stdout


def test_what_is_missing_is_named_with_its_extra(
    mpgraph: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = Installed((), "", "it is not here")
    monkeypatch.setattr(target_facts, "find_installed", lambda provider: missing)
    monkeypatch.setenv("COLUMNS", "80")
    assert "no: pip install 'mpgraph[webgpu]'" in mpgraph("targets").stdout
    shown = mpgraph("targets", "webgpu").stdout
    assert "it is not here" in shown
    assert "tried here" not in shown


def test_the_list_as_json(mpgraph: Run) -> None:
    data = json.loads(mpgraph("targets", "--json").stdout)
    assert [row["name"] for row in data["targets"]] == list(available_targets())
    cpu = data["targets"][0]
    assert cpu["kernels"]["float32"] > cpu["kernels"]["float16"] > 0
    assert cpu["slow_dtypes"] == ["bfloat16", "float16"]
    assert data["device"]["CPU"]


def test_one_target_shows_settings_and_what_runs(mpgraph: Run) -> None:
    result = mpgraph("targets", "cpu")
    assert result.exit_code == 0
    assert "session.qdq_matmulnbits_accuracy_level = 0" in result.stdout
    text = " ".join(result.stdout.split())
    assert "MatMul in float32 runs" in text
    assert "MatMul in float16 does not run so: casts are put around" in text
    assert "MatMul in bfloat16 does not run so" in text


def test_one_target_as_json(mpgraph: Run) -> None:
    data = json.loads(mpgraph("targets", "CPUExecutionProvider", "--json").stdout)
    assert data["target"]["name"] == "cpu"
    assert {one["dtype"]: one["ran"] for one in data["trials"]} == {
        "float32": True,
        "float16": False,
        "bfloat16": False,
    }
    names = [setting["name"] for setting in data["target"]["settings"]]
    assert names == [setting.name for setting in get_target("cpu").settings]


def test_gpus_are_device_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_facts, "nvidia_gpus", lambda: (Gpu("NVIDIA T4", "7.5", "580"),))
    monkeypatch.setattr(target_facts, "cpu_features", lambda: None)
    facts = target_facts.device_facts()
    assert facts["GPU 0"] == "NVIDIA T4, SM 7.5, driver 580"
    assert facts["CPU has"] == "unknown"


def test_an_unknown_target(mpgraph: Run) -> None:
    assert "did you mean webgpu?" in error_of(mpgraph("targets", "webgpuu"))
