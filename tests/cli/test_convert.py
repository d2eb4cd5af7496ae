from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import onnx
import pytest

from mpgraph import ir
from tests.cli.conftest import Run, error_of
from tests.report.audit_pages import page_texts

FLOAT, FLOAT16, BFLOAT16 = (
    onnx.TensorProto.FLOAT,
    onnx.TensorProto.FLOAT16,
    onnx.TensorProto.BFLOAT16,
)


def weight_types(path: Path) -> set[int]:
    return {tensor.data_type for tensor in onnx.load(path).graph.initializer}


def io_types(path: Path) -> list[int]:
    graph = onnx.load(path).graph
    return [value.type.tensor_type.elem_type for value in (*graph.input, *graph.output)]


def test_the_default_writes_beside_the_model(mpgraph: Run, model_path: Path) -> None:
    source = model_path.read_bytes()
    result = mpgraph("convert", model_path)
    assert result.exit_code == 0, result.output
    written = model_path.with_name("net_fp16.onnx")
    assert f"written to {written}" in result.stdout
    onnx.checker.check_model(written, full_check=True)
    assert weight_types(written) == {FLOAT16}
    assert io_types(written) == [FLOAT, FLOAT]
    assert model_path.read_bytes() == source


@pytest.mark.parametrize(
    ("options", "name", "weights"),
    [
        (["-p", "bf16", "--target", "cuda"], "net_bf16.onnx", {BFLOAT16}),
        (["--policy", "float32"], "net_fp32.onnx", {FLOAT}),
        (["--op_types_to_exclude", "MatMul", "--target", "cuda"], "net_fp16.onnx", {FLOAT}),
        (["--nodes-to-include", "first", "--ep", "cuda"], "net_fp16.onnx", {FLOAT, FLOAT16}),
        (["--exclude", "last", "--target", "cuda"], "net_fp16.onnx", {FLOAT, FLOAT16}),
    ],
)
def test_short_options(
    mpgraph: Run, model_path: Path, options: list[str], name: str, weights: set[int]
) -> None:
    result = mpgraph("convert", model_path, *options)
    assert result.exit_code == 0, result.output
    assert weight_types(model_path.with_name(name)) == weights


def test_the_model_as_an_option_and_the_output_of_other_tools(
    mpgraph: Run, model_path: Path, tmp_path: Path
) -> None:
    written = tmp_path / "out.onnx"
    result = mpgraph("convert", "-m", model_path, "--output_path", written, "-q")
    assert (result.exit_code, result.output) == (0, "")
    assert written.is_file()
    assert "give the model once" in error_of(mpgraph("convert", model_path, "-m", model_path))


def test_io_types_follow_when_asked(mpgraph: Run, model_path: Path, tmp_path: Path) -> None:
    written = tmp_path / "out.onnx"
    options = ("--policy", "float16", "--no-keep-io-types", "--target", "cuda")
    result = mpgraph("convert", model_path, "-o", written, *options)
    assert result.exit_code == 0, result.output
    assert io_types(written) == [FLOAT16, FLOAT16]


def test_json_is_one_document(mpgraph: Run, model_path: Path, data_path: Path) -> None:
    result = mpgraph(
        *("convert", model_path, "--json", "--target", "cuda"),
        *("--data", data_path, "--explain", "first"),
    )
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["output"] == str(model_path.with_name("net_fp16.onnx"))
    assert data["explained"][0]["name"] == "first"
    assert data["explained"][0]["dtype"] == "float16"
    assert data["outputs"]["y"]["max_relative"] < 1e-2


def test_explain_says_why(mpgraph: Run, model_path: Path) -> None:
    result = mpgraph("convert", model_path, "--explain", "last", "--op-types-to-exclude", "MatMul")
    assert result.exit_code == 0, result.output
    assert "last (MatMul): float32" in result.stdout
    assert "op:MatMul" in result.stdout


def test_a_dry_run_writes_nothing(mpgraph: Run, model_path: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    result = mpgraph("convert", model_path, "--dry-run")
    assert result.exit_code == 0, result.output
    assert "nothing written" in result.stdout
    assert sorted(tmp_path.iterdir()) == before


def test_the_plan_is_written_and_explains_the_model(
    mpgraph: Run, model_path: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    result = mpgraph("convert", model_path, "--dump-plan", plan, "--target", "cuda")
    assert result.exit_code == 0, result.output
    assert json.loads(plan.read_text())["target"] == "cuda"
    explained = mpgraph("explain", plan, "first")
    assert explained.exit_code == 0, explained.output
    assert "first (MatMul): float32 -> float16" in explained.stdout


def test_verbose_lists_the_passes_on_stderr(mpgraph: Run, model_path: Path) -> None:
    result = mpgraph("convert", model_path, "--dry-run", "-v")
    assert "insert-casts" in result.stderr
    assert "insert-casts" not in result.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--policy", "mixed_flaot16"], "mixed_float16"),
        (["--target", "cudda"], "cuda"),
        (["--op-types-to-exclude", "MatMull"], "MatMul"),
        (["--nodes-to-exclude", "frist"], "first"),
        (["--policy-file", "missing.toml"], "missing.toml"),
        (["--data", "missing.npz"], "missing.npz"),
        (["--explain", "frist", "--target", "cuda"], "first"),
        (["-o", "no/such/folder/out.onnx"], "folder"),
        (["--dump-plan", "no/such/folder/plan.json"], "folder"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    mpgraph: Run, model_path: Path, options: list[str], said: str
) -> None:
    before = sorted(model_path.parent.iterdir())
    assert said in error_of(mpgraph("convert", model_path, *options))
    assert sorted(model_path.parent.iterdir()) == before


def test_data_that_does_not_fit_is_refused(mpgraph: Run, model_path: Path, tmp_path: Path) -> None:
    data = tmp_path / "other.npz"
    np.savez(data, z=np.zeros((1, 16), np.float32))
    assert "x" in error_of(mpgraph("convert", model_path, "--data", data))


@pytest.mark.parametrize("link", [False, True], ids=["same", "hard link"])
def test_output_equal_to_input_is_refused(
    mpgraph: Run, model_path: Path, tmp_path: Path, link: bool
) -> None:
    output = model_path
    if link:
        output = tmp_path / "link.onnx"
        os.link(model_path, output)
    source = model_path.read_bytes()
    assert "is the input itself" in error_of(mpgraph("convert", model_path, "-o", output))
    assert model_path.read_bytes() == source


@pytest.mark.parametrize("content", [None, b"", b"no model at all", b"\x08\x07\x12"])
def test_a_bad_model_file_is_refused(mpgraph: Run, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "bad.onnx"
    if content is not None:
        path.write_bytes(content)
    assert "bad.onnx" in error_of(mpgraph("convert", path))


def test_a_tolerance_keeps_wide_what_shows(mpgraph: Run, model_path: Path, data_path: Path) -> None:
    def low_nodes(*tolerance: str) -> int:
        options = ("--target", "cuda", "--data", data_path, "--dry-run", "--json")
        result = mpgraph("convert", model_path, *options, *tolerance)
        assert result.exit_code == 0, result.output
        return int(json.loads(result.stdout)["nodes"]["after"].get("float16", 0))

    assert low_nodes() > 0
    assert low_nodes("--tolerance", "inf") == low_nodes()
    assert low_nodes("--tolerance", "1e-9") == 0


@pytest.mark.parametrize("tolerance", ["nan", "-1", "much"])
def test_a_tolerance_that_is_none(mpgraph: Run, model_path: Path, tolerance: str) -> None:
    assert "--tolerance" in error_of(mpgraph("convert", model_path, "--tolerance", tolerance))


@pytest.mark.parametrize(
    ("options", "nearest"),
    [
        (["--op-types-to-exclude", "MatMulInteger"], "op:MatMul"),
        (["--op-types-to-exclude", "op:Softmaxx"], "op:Softmax"),
        (["--nodes-to-exclude", "name:frist"], "name:first"),
    ],
)
def test_a_rule_of_an_option_that_selects_nothing(
    mpgraph: Run, model_path: Path, options: list[str], nearest: str
) -> None:
    line = error_of(mpgraph("convert", model_path, *options))
    assert line.startswith(f"error: {options[0]}: the selector matches no node")
    assert f"nearest: {nearest}" in line
    assert "policy file" not in line


def test_warnings_name_the_option(mpgraph: Run, model_path: Path) -> None:
    result = mpgraph("convert", model_path, "--dry-run")
    assert "allow-slow" in result.stdout
    assert "allow_slow" not in result.stdout


def test_html_shows_both_models_and_the_reasons(
    mpgraph: Run, model_path: Path, tmp_path: Path
) -> None:
    output, page = tmp_path / "low.onnx", tmp_path / "page.html"
    result = mpgraph("convert", model_path, "-o", output, "--html", page)
    assert result.exit_code == 0, result.output
    shown = page_texts(page)
    assert "low.onnx" in page.read_text(encoding="utf-8")
    assert any(" by target" in text or " by policy" in text for text in shown)
    error_of(mpgraph("convert", model_path, "-o", output, "--html", model_path))


def test_html_of_a_dry_run_shows_what_would_become(
    mpgraph: Run, model_path: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    result = mpgraph("convert", model_path, "--dry-run", "--html", page)
    assert result.exit_code == 0, result.output
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_annotate_writes_dtypes_and_reasons(mpgraph, model_path, tmp_path):
    out = tmp_path / "out.onnx"
    options = ("--policy", "float16", "--target", "cuda", "--annotate")
    result = mpgraph("convert", model_path, "-o", out, *options)
    assert result.exit_code == 0, result.output
    notes = {node.name: ir.annotation(node) for node in ir.nodes(ir.load(out))}
    assert notes["first"] == ("float16", "policy: the default policy float16")


def test_max_error_says_what_stays_in_float(mpgraph: Run, model_path: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.npz"
    np.savez(data, x=np.random.default_rng(0).normal(size=(2, 3, 16)).astype(np.float32))
    options = ("--policy", "int8_from_float32", "--data", data, "--allow-slow", "--dry-run")
    result = mpgraph("convert", model_path, *options, "--max-error", "0.5")
    assert result.exit_code == 0, result.output
    assert "Largest error 0.5: 2 of 2 nodes quantized" in result.stdout
    assert "of the time in float" in result.stdout


def test_max_error_without_data_is_an_error(mpgraph: Run, model_path: Path) -> None:
    result = mpgraph("convert", model_path, "--policy", "int8_from_float32", "--max-error", "0.1")
    assert result.exit_code == 2
    assert "--data" in error_of(result)
    for wrong in ("0", "-1", "nan"):
        assert mpgraph("convert", model_path, "--max-error", wrong).exit_code == 2


def test_a_limit_that_leaves_nothing_quantized_writes_nothing(
    mpgraph: Run, model_path: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data.npz"
    np.savez(data, x=np.random.default_rng(0).normal(size=(2, 3, 16)).astype(np.float32))
    output = tmp_path / "out.onnx"
    options = ("--policy", "int8_from_float32", "--data", data, "-o", output)
    result = mpgraph("convert", model_path, *options, "--max-error", "1e-9")
    assert "nothing is gained: the one node does not stay quantized" in error_of(result, 1)
    assert not output.exists()
