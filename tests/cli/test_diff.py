from __future__ import annotations

import json
from pathlib import Path

import jsonschema
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


def test_a_node_without_a_kernel_is_told(mpgraph: Run, model_path: Path, tmp_path: Path) -> None:
    low = tmp_path / "low.onnx"
    options = ("--policy", "bfloat16", "--target", "cuda", "--verify", "structure")
    assert mpgraph("convert", model_path, "-o", low, *options).exit_code == 0
    result = mpgraph("diff", model_path, low, "--target", "cpu")
    assert result.exit_code == 1, result.output
    assert "CPUExecutionProvider -> no kernel" in result.stdout
    assert "not audited in low.onnx: placement: expected, not observed" in result.stdout
    document = json.loads(mpgraph("diff", model_path, low, "-t", "cpu", "--json").stdout)
    assert document["kinds"]["provider"] > 0
    assert document["after"]["not_audited"][0]["where"] == "placement"


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


def test_the_schema_needs_no_models_and_fits_what_is_printed(
    mpgraph: Run, model_path: Path, changed_path: Path
) -> None:
    result = mpgraph("diff", "--schema")
    assert result.exit_code == 0, result.output
    document = json.loads(mpgraph("diff", model_path, changed_path, "--json").stdout)
    jsonschema.Draft202012Validator(json.loads(result.stdout)).validate(document)
