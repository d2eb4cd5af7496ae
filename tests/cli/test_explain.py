from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

import models
from tests.cli.conftest import Run, error_of


def test_a_model_is_planned_and_explained(mpgraph: Run, model_path: Path) -> None:
    result = mpgraph("explain", model_path, "first", "soft", "--target", "cuda")
    assert result.exit_code == 0, result.output
    assert "first (MatMul): float32 -> float16" in result.stdout
    assert "soft (Softmax): " in result.stdout
    assert "because" in result.stdout
    assert list(model_path.parent.iterdir()) == [model_path]


def test_json_gives_the_assignments(mpgraph: Run, model_path: Path) -> None:
    result = mpgraph("explain", model_path, "first", "--json", "--policy", "float32")
    assert result.exit_code == 0, result.output
    (row,) = json.loads(result.stdout)
    assert (row["name"], row["dtype"]) == ("first", "float32")


def test_an_unknown_node_is_refused_with_the_nearest(mpgraph: Run, model_path: Path) -> None:
    line = error_of(mpgraph("explain", model_path, "frist"))
    assert "no such node" in line
    assert "'first'" in line


@pytest.mark.parametrize("content", ['{"format": 7}', '{"format": 1}', '{"format": '])
def test_a_broken_plan_is_refused(mpgraph: Run, tmp_path: Path, content: str) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(content)
    assert "plan" in error_of(mpgraph("explain", plan, "x"))


def test_a_missing_plan_is_refused(mpgraph: Run, tmp_path: Path) -> None:
    assert "cannot be read" in error_of(mpgraph("explain", tmp_path / "plan.json", "x"))


def test_the_casts_around_a_node_of_a_model_are_shown(mpgraph: Run, model_path: Path) -> None:
    result = mpgraph("explain", model_path, "first", "last", "--target", "cuda")
    assert "before input 0: float32 -> float16 of x" in result.stdout
    assert "behind output 0: float16 -> float32" in result.stdout


def test_rules_that_lost_are_shown(mpgraph: Run, model_path: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(
        'version = 1\ndefault = "mixed_float16"\n'
        '[[rule]]\nname = "first"\npolicy = "float32"\n'
        '[[rule]]\nname = "f*"\npolicy = "bfloat16"\n'
        '[[rule]]\nop = "MatMul"\npolicy = "float16"\n'
    )
    result = mpgraph("explain", model_path, "first", "--policy-file", rules, "--target", "cuda")
    assert "a rule asks for float32 (a rule, name:first)" in result.stdout
    won, lost = result.stdout.index("name:f*"), result.stdout.index("op:MatMul")
    assert won < lost, "the most specific first"
    assert "op:MatMul asks for float16: less specific" in result.stdout


def test_a_node_in_a_body_of_a_function_says_who_calls_that_body(
    mpgraph: Run, tmp_path: Path
) -> None:
    model = tmp_path / "functions.onnx"
    onnx.save(models.build("functions"), model)
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'version = 1\ndefault = "float32"\n[[rule]]\nscope = "blocks.1/**"\npolicy = "float16"\n'
    )
    for body, caller in (("Block", "/blocks.0/Block"), ("Block_2", "/blocks.1/Block")):
        key = f"function:example.local::{body}#4"
        result = mpgraph("explain", model, key, "--policy-file", policy, "--target", "cuda")
        assert result.exit_code == 0, result.output
        (line,) = [one for one in result.stdout.splitlines() if "called by" in one]
        assert line.split() == ["called", "by", caller]
