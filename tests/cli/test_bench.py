from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, error_of

QUICK = ("--seconds", "0.01", "--sessions", "3")


def test_what_is_printed(mpgraph: Run, model_path: Path, data_path: Path) -> None:
    result = mpgraph("bench", model_path, model_path, "--data", data_path, *QUICK)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    for text in ("net.onnx #1", "net.onnx #2", "threads:", "interval:", "nodes of net.onnx #2"):
        assert text in result.stdout
    assert "Random" not in result.stdout


def test_json_of_three_models(mpgraph: Run, model_path: Path) -> None:
    result = mpgraph("bench", *[model_path] * 3, *QUICK, "--threads", 1, "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert len(data["timings"]) == 3
    assert len(data["ratios"]) == 3
    assert data["environment"]["threads"] == 1
    assert data["data"].startswith("random")
    assert {node["op_type"] for node in data["nodes"]["net.onnx #1"]} >= {"Softmax"}
    assert data["winner"] in (None, "net.onnx #1", "net.onnx #2", "net.onnx #3")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target", "gpu9"], "gpu9"),
        (["--sessions", "2"], "--sessions"),
        (["--seconds", "0"], "--seconds"),
        (["--set", "x"], "NAME=VALUE"),
        (["--set", "no.such=1"], "no.such"),
        (["--data", "missing.npz"], "missing.npz"),
    ],
)
def test_bad_options_are_one_line(
    mpgraph: Run, model_path: Path, options: list[str], said: str
) -> None:
    assert said in error_of(mpgraph("bench", model_path, *QUICK, *options))


def test_a_model_is_needed(mpgraph: Run) -> None:
    assert "MODEL" in error_of(mpgraph("bench"))
    assert "no such file" in error_of(mpgraph("bench", "missing.onnx"))
