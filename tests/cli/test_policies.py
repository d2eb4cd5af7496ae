"""`mpgraph policies`: the list, and one policy explained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mpgraph.policy import MODE_FORMS, POLICY_NAMES, policy_file_schema
from tests.cli.conftest import Run, error_of


def test_the_list_fits_a_screen(mpgraph: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = mpgraph("policies")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert len(lines) <= 24
    assert all(len(line) <= 80 for line in lines)
    assert all(name in result.stdout for name in (*POLICY_NAMES, *MODE_FORMS))
    assert "scope:encoder/**" in result.stdout


def test_the_list_as_json(mpgraph: Run) -> None:
    data = json.loads(mpgraph("policies", "--json").stdout)
    assert [row["name"] for row in data["policies"]] == list(POLICY_NAMES)
    assert list(data["modes"]) == list(MODE_FORMS)
    assert "op:Softmax" in data["selectors"]


def test_one_policy(mpgraph: Run) -> None:
    result = mpgraph("policies", "int8_from_mixed_bfloat16")
    assert result.exit_code == 0
    first, *rest = result.stdout.splitlines()
    assert first.strip() == "int8_from_mixed_bfloat16"
    labels = [line[:16].strip() for line in rest]
    assert [label for label in labels if label] == [
        "computes in",
        "variables in",
        "on a graph",
        "stays float32",
        "left alone",
        "quantization",
        "weights",
        "rounding",
        "activations",
        "ranges",
        "without ranges",
        "scales",
        "not quantized",
        "status",
    ]


def test_one_policy_as_json(mpgraph: Run) -> None:
    data = json.loads(mpgraph("policies", "gptq/3/128_from_float16", "--json").stdout)
    assert data["name"] == "gptq/3/128_from_float16"
    assert (data["compute_dtype"], data["quantization_mode"]) == ("float16", "gptq")
    assert (data["mode"]["weight_bits"], data["mode"]["block_size"]) == (3, 128)
    assert {"label": "quantization", "text": "gptq/3/128"} in data["explanation"]
    plain = json.loads(mpgraph("policies", "float32", "--json").stdout)
    assert plain["mode"] is None


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("mixed_flaot16", "mixed_float16"),
        ("int8", "int8_from_float32"),
        ("int8_from_float23", "int8_from_float32"),
        ("gptq/5/128_from_float32", "gptq/4/128_from_float32"),
        ("???", "mpgraph policies"),
    ],
)
@pytest.mark.parametrize("extra", [(), ("--json",)])
def test_an_unknown_name(mpgraph: Run, name: str, nearest: str, extra: tuple[str, ...]) -> None:
    line = error_of(mpgraph("policies", name, *extra))
    assert repr(name) in line
    assert nearest in line


def test_the_file_of_a_plan(mpgraph: Run, model_path: Path, tmp_path: Path) -> None:
    plan, file = tmp_path / "plan.json", tmp_path / "again.toml"
    options = ("--target", "cuda", "--dump-plan", plan)
    assert mpgraph("convert", model_path, "-o", tmp_path / "low.onnx", *options).exit_code == 0
    printed = mpgraph("policies", "--from-plan", plan)
    assert printed.exit_code == 0
    assert printed.stdout.startswith('version = 1\ndefault = "float32"\n\n[[rule]]\n')
    written = mpgraph("policies", "--from-plan", plan, "-o", file)
    assert written.stdout == f"written to {file}\n"
    assert file.read_text(encoding="utf-8") == printed.stdout
    again = mpgraph(
        "convert", model_path, "--target", "cuda", "--policy-file", file, "--dry-run", "--json"
    )
    assert again.exit_code == 0, again.output


def test_the_schema(mpgraph: Run) -> None:
    result = mpgraph("policies", "--schema")
    assert json.loads(result.stdout) == policy_file_schema()


def test_wrong_uses_of_the_plan_option(mpgraph: Run, model_path: Path, tmp_path: Path) -> None:
    text = tmp_path / "plan.json"
    text.write_text("{}", encoding="utf-8")
    assert "cannot be read" in error_of(mpgraph("policies", "--from-plan", tmp_path / "none.json"))
    assert "this is no plan" in error_of(mpgraph("policies", "--from-plan", text))
    assert "UTF-8" in error_of(mpgraph("policies", "--from-plan", model_path))
    assert mpgraph("policies", "--schema", "float16").exit_code == 2
    assert mpgraph("policies", "-o", tmp_path / "x").exit_code == 2
