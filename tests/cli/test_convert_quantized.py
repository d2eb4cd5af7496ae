from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

import models
from tests.cli.conftest import Run, error_of


@pytest.fixture
def mlp_path(tmp_path: Path) -> Path:
    path = tmp_path / "mlp.onnx"
    onnx.save(models.build("mlp"), path)
    np.savez(tmp_path / "feeds.npz", **models.feeds("mlp")[0])
    return path


def test_the_summary_says_what_was_quantized_and_fused(mpgraph: Run, mlp_path: Path) -> None:
    feeds = mlp_path.with_name("feeds.npz")
    result = mpgraph("convert", mlp_path, "-p", "int8", "--data", feeds)
    assert result.exit_code == 0, result.output
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert "Quantized: 3 of 3 quantizable nodes: 3 static" in lines
    assert "Q/DQ: 11 fused, 1 at an edge to float, 0 left" in lines
    (row,) = [line for line in lines if line.startswith("Q/DQ nodes")]
    assert row.split()[2:] == ["0", "12"]
    assert f"written to {mlp_path.with_name('mlp_int8.onnx')}" in lines
    assert "Stayed in float32" not in result.stdout


@pytest.mark.parametrize(
    ("precision", "name"),
    [
        ("int4", "mlp_int4.onnx"),
        ("uint4", "mlp_int4.onnx"),
        ("int8-weight", "mlp_int8.onnx"),
        ("int8_dynamic", "mlp_int8.onnx"),
        ("w8a8", "mlp_int8.onnx"),
        ("w8a16", "mlp_int8.onnx"),
        ("w4a16", "mlp_mixed.onnx"),
    ],
)
def test_short_names_and_suffixes(mpgraph: Run, mlp_path: Path, precision: str, name: str) -> None:
    result = mpgraph("convert", mlp_path, "--precision", precision, "--verify", "structure", "-q")
    assert (result.exit_code, result.output) == (0, "")
    assert mlp_path.with_name(name).is_file()
    assert mlp_path.with_name(name).stat().st_size < mlp_path.stat().st_size


def test_no_data_for_static_ranges_is_one_line(mpgraph: Run, mlp_path: Path) -> None:
    result = mpgraph("convert", mlp_path, "-p", "int8", "--dry-run")
    text = " ".join(result.stdout.split())
    assert "3 dynamic" in text
    assert text.count("no data was given, so int8_dynamic takes the place of int8: 3 of 3") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target", "cuda"], "the CUDA provider computes int8 Conv and MatMul in float (3)"),
        (["--target", "cuda"], "on cuda int8_weight and int4/32 policies quantize"),
        (["--target", "webgpu"], "the WebGPU provider has no QuantizeLinear kernel (3)"),
        (["--op-types-to-exclude", "Gemm"], "it selects no node that multiplies by a weight"),
    ],
)
def test_quantizing_nothing_is_an_error_and_writes_nothing(
    mpgraph: Run, mlp_path: Path, options: list[str], said: str
) -> None:
    before = sorted(mlp_path.parent.iterdir())
    line = error_of(mpgraph("convert", mlp_path, "-p", "int8", *options), status=1)
    assert line.startswith("error: policy 'int8_from_float32")
    assert said in line
    assert sorted(mlp_path.parent.iterdir()) == before


def test_float8_without_kernels_is_an_error(mpgraph: Run, mlp_path: Path) -> None:
    feeds = mlp_path.with_name("feeds.npz")
    line = error_of(mpgraph("convert", mlp_path, "-p", "fp8", "--data", feeds), status=1)
    assert "0 of 3 quantizable nodes are quantized: cpu " in line
    assert "float8" in line
    assert "allow-slow quantizes also what only loses time" in line


def test_16_bit_activations_fall_back_to_weights(mpgraph: Run, mlp_path: Path) -> None:
    feeds = mlp_path.with_name("feeds.npz")
    result = mpgraph("convert", mlp_path, "-p", "w8a16", "--data", feeds, "--dry-run")
    assert result.exit_code == 0, result.output
    assert (
        "cpu computes nothing on 16-bit activations, so int8_weight takes the place of int8_a16: "
        "the weights alone of 3 of 3 nodes" in " ".join(result.stdout.split())
    )


def test_a_model_that_is_quantized_already_is_no_error(mpgraph: Run, mlp_path: Path) -> None:
    once = mlp_path.with_name("once.onnx")
    feeds = mlp_path.with_name("feeds.npz")
    assert mpgraph("convert", mlp_path, "-o", once, "-p", "int8", "--data", feeds).exit_code == 0
    result = mpgraph("convert", once, "-p", "int8", "--data", feeds)
    assert result.exit_code == 0, result.output
    assert "Quantized already: 3 of 3 quantizable nodes; nothing was added" in result.stdout


def test_json_has_the_quantization(mpgraph: Run, mlp_path: Path) -> None:
    feeds = mlp_path.with_name("feeds.npz")
    options = ("-p", "int8", "--data", feeds, "--dry-run", "--json", "--explain", "/fc0/Gemm")
    result = mpgraph("convert", mlp_path, *options)
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    found = data["quantization"]
    assert (found["quantizable"], found["quantized"]) == (3, 3)
    assert found["forms"] == {"static": 3}
    assert found["qdq"]["outcomes"] == {"edge": 1, "fused": 11}
    assert {one["outcome"] for one in found["qdq"]["nodes"]} == {"edge", "fused"}
    node = next(one for one in found["plan"]["nodes"] if one["name"] == "/fc0/Gemm")
    assert (node["mode"], node["form"], node["fallback"]) == ("int8", "static", "")
    (explained,) = data["explained"]
    (activation,) = explained["quantization"]["activations"]
    low, high = activation["range"]
    assert low <= 0 < high and activation["scale"] > 0
    assert explained["quantization"]["weights"][0]["granularity"] == "axis"


def test_a_plan_explains_its_quantization_and_gives_the_policy_again(
    mpgraph: Run, mlp_path: Path
) -> None:
    plan, feeds = mlp_path.with_name("plan.json"), mlp_path.with_name("feeds.npz")
    options = ("-p", "int8", "--data", feeds, "--dry-run")
    assert mpgraph("convert", mlp_path, *options, "--dump-plan", plan).exit_code == 0
    explained = mpgraph("explain", plan, "/fc0/Gemm", "/fc0/Relu").stdout
    assert "quantized   static: cpu computes it in 8 bits (int8)" in explained
    assert ": int8, per index of axis 1, symmetric" in explained
    assert "activation  x: uint8 per tensor, scale " in explained
    assert "no: int8 does nothing with Relu here" in explained
    policy = mlp_path.with_name("policy.toml")
    assert mpgraph("policies", "--from-plan", plan, "-o", policy).exit_code == 0
    again = mpgraph(
        *("convert", mlp_path, "--policy-file", policy, "--data", feeds, "--dry-run", "--json")
    )
    assert json.loads(again.stdout)["quantization"]["forms"] == {"static": 3}


def test_explain_plans_a_model(mpgraph: Run, mlp_path: Path) -> None:
    result = mpgraph("explain", mlp_path, "/fc0/Gemm", "--policy", "int8_from_float32")
    assert "(int8_dynamic in place of int8)" in " ".join(result.stdout.split())
