from __future__ import annotations

import json
from pathlib import Path

import pytest

from mpgraph import ir
from tests.cli.conftest import Run, error_of


@pytest.fixture
def changed_path(model_path: Path, tmp_path: Path) -> Path:
    """The model with a node of another name."""
    model = ir.load(model_path)
    next(iter(ir.nodes(model))).name = "other"
    path = tmp_path / "changed.onnx"
    ir.save(model, path)
    return path


def test_equal_models_are_status_0(mpgraph: Run, model_path: Path) -> None:
    result = mpgraph("diff", model_path, model_path)
    assert result.exit_code == 0, result.output
    assert "nothing changed" in result.stdout


def test_different_models_are_status_1(mpgraph: Run, model_path: Path, changed_path: Path) -> None:
    for options in ((), ("--all",), ("--target", "cpu"), ("--no-weights",)):
        result = mpgraph("diff", model_path, changed_path, *options)
        assert result.exit_code == 1, result.output
        assert "first -> other" in result.stdout
    assert "both on cpu" in mpgraph("diff", model_path, changed_path, "--ep", "cpu").stdout


def test_json(mpgraph: Run, model_path: Path, changed_path: Path) -> None:
    result = mpgraph("diff", model_path, changed_path, "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert (found["format"], found["equal"]) == (1, False)
    assert found["kinds"] == {"renamed": 1}
    assert found["changes"][0]["old"] == "first"
    assert found["before"]["totals"]["nodes"] == {"float32": 4}
    assert found["layers"]["changes"] == {"renamed": 1}


def test_html(mpgraph: Run, model_path: Path, changed_path: Path, tmp_path: Path) -> None:
    page = tmp_path / "diff.html"
    result = mpgraph("diff", model_path, changed_path, "--html", page)
    assert result.exit_code == 1, result.output
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_bad_input_is_one_line(mpgraph: Run, model_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.onnx"
    path.write_bytes(b"nonsense")
    assert "not an ONNX file" in error_of(mpgraph("diff", model_path, path))
    assert "did you mean" in error_of(mpgraph("diff", model_path, model_path, "-t", "cupa"))
    assert "Missing argument" in error_of(mpgraph("diff", model_path))
    error_of(mpgraph("diff", model_path, path, "--html", model_path))
    assert model_path.read_bytes()[:1] == b"\x08"
