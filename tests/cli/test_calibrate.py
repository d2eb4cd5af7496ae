from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mpgraph.quant.calibration import Calibration
from tests.cli.conftest import Run, error_of

POLICY = ("--policy", "int8_from_float32")


@pytest.fixture
def ranges_path(mpgraph: Run, model_path: Path, data_path: Path, tmp_path: Path) -> Path:
    path = tmp_path / "ranges.json"
    result = mpgraph("calibrate", model_path, "--data", data_path, "-o", path)
    assert result.exit_code == 0, result.output
    return path


def test_ranges_quantize_without_data(
    mpgraph: Run, model_path: Path, ranges_path: Path, tmp_path: Path
) -> None:
    output = tmp_path / "small.onnx"
    options = ("--ranges", ranges_path, "-o", output, "--json")
    result = mpgraph("convert", model_path, *POLICY, *options)
    assert result.exit_code == 0, result.output
    import onnx

    ops = [node.op_type for node in onnx.load(output).graph.node]
    assert "QuantizeLinear" in ops and "DynamicQuantizeLinear" not in ops


def test_the_summary_fits_a_screen(mpgraph: Run, model_path: Path, tmp_path: Path) -> None:
    x = np.random.default_rng(0).standard_normal((40, 16)).astype(np.float32)
    x[3, 2], x[4, :5] = np.nan, np.inf
    np.savez(tmp_path / "x.npz", x=x)
    result = mpgraph("calibrate", model_path, "--data", tmp_path / "x.npz")
    assert result.exit_code == 0, result.output
    text = result.stdout
    assert "x.npz, 40 samples" in text
    assert "ranges by minmax" in text
    assert "NaN or infinite, skipped: " in text
    assert "6 NaN or infinite skipped" in text
    assert "mask values left out: none" in text
    assert f"written to {tmp_path / 'net_ranges.json'}" in text
    assert len(text.splitlines()) < 24
    assert max(map(len, text.splitlines())) <= 160
    assert (tmp_path / "net_ranges.json").exists()


def test_json(mpgraph: Run, model_path: Path, data_path: Path, tmp_path: Path) -> None:
    result = mpgraph("calibrate", model_path, "-d", data_path, "--json", "-o", tmp_path / "r.json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert (data["samples"], data["observer"]["method"]) == (3, "minmax")
    x = np.load(data_path)["x"]
    values = {one["name"]: one for one in data["values"]}
    assert values["x"]["low"] == x.min()
    assert values["x"]["high"] == x.max()
    assert values["x"]["elements"] == x.size


@pytest.mark.parametrize(
    ("options", "label"),
    [
        (["--method", "moving-average"], "moving average of momentum 0.01"),
        (["--calibration_method", "entropy"], "entropy"),
        (["--percentile", "99"], "percentile 99"),
        (["--method", "mse", "--memory", "2MB"], "mse"),
    ],
)
def test_methods(
    mpgraph: Run,
    model_path: Path,
    data_path: Path,
    tmp_path: Path,
    options: list[str],
    label: str,
) -> None:
    path = tmp_path / "r.json"
    result = mpgraph("calibrate", model_path, "--data", data_path, "-o", path, *options)
    assert result.exit_code == 0, result.output
    assert Calibration.load(path).observer.label == label


def test_samples_and_merges(
    mpgraph: Run, model_path: Path, data_path: Path, ranges_path: Path, tmp_path: Path
) -> None:
    first, both = tmp_path / "first.json", tmp_path / "both.json"
    base = ("calibrate", model_path)
    assert mpgraph(*base, "--data", data_path, "--samples", 1, "-o", first, "-q").exit_code == 0
    assert Calibration.load(first).samples == 1
    result = mpgraph(*base, "--data", data_path, "--merge", first, "-o", both)
    assert result.exit_code == 0, result.output
    assert Calibration.load(both).samples == 4
    result = mpgraph(*base, "--merge", first, "--merge", ranges_path, "-o", both)
    assert result.exit_code == 0, result.output
    assert "4 samples" in result.stdout
    found, once = Calibration.load(both), Calibration.load(ranges_path)
    assert found.range("x").low == once.range("x").low


def test_workers_find_the_same(
    mpgraph: Run, model_path: Path, data_path: Path, ranges_path: Path, tmp_path: Path
) -> None:
    path = tmp_path / "two.json"
    options = ("--workers", 2, "-o", path, "--quiet")
    result = mpgraph("calibrate", model_path, "--data", data_path, *options)
    assert result.exit_code == 0, result.output
    assert result.output == ""
    assert json.loads(path.read_text()) == json.loads(ranges_path.read_text())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "give --data"),
        (["--data", "missing.npz"], "missing.npz"),
        (["--data", "random", "--memory", "much"], "'much' is no amount of memory"),
        (["--data", "random", "--method", "magic"], "'magic' is not one of 'minmax'"),
        (["--data", "random", "--percentile", "99", "--method", "mse"], "--percentile is none of"),
        (["--data", "random", "--percentile", "20"], "20"),
        (["--data", "random", "--policy", "mixed_float16"], "needs no ranges on cpu"),
        (["--data", "random", "--merge", "missing.json"], "is no file of ranges"),
        (["--data", "random", "--workers", "2", "--scheduler", "tcp://a:1"], "not both"),
        (["--data", "random", "--scheduler", "nonsense"], "it is not tcp://HOST:PORT"),
    ],
)
def test_refusals(mpgraph: Run, model_path: Path, options: list[str], said: str) -> None:
    assert said in error_of(mpgraph("calibrate", model_path, *options))


def test_another_models_ranges(
    mpgraph: Run, model_path: Path, data_path: Path, ranges_path: Path, tmp_path: Path
) -> None:
    import onnx

    model = onnx.load(model_path)
    model.graph.node[0].name = "renamed"
    other = tmp_path / "other.onnx"
    onnx.save(model, other)
    line = error_of(mpgraph("convert", other, *POLICY, "--ranges", ranges_path))
    assert "another model" in line and "calibrate this model" in line
    line = error_of(mpgraph("calibrate", other, "--data", data_path, "--merge", ranges_path))
    assert "another model" in line


def test_convert_takes_the_method_too(mpgraph: Run, model_path: Path, data_path: Path) -> None:
    base = ("convert", model_path, *POLICY, "--dry-run", "--data", data_path)
    assert mpgraph(*base, "--method", "entropy", "--samples", 2).exit_code == 0
    line = error_of(mpgraph("convert", model_path, *POLICY, "--dry-run", "--percentile", "99"))
    assert "no" in line and "data" in line


def test_a_cluster_needs_dask(
    mpgraph: Run, model_path: Path, data_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    options = ("--data", data_path, "--scheduler", "tcp://127.0.0.1:1")
    line = error_of(mpgraph("calibrate", model_path, *options))
    assert "needs dask" in line and "mpgraph[dask]" in line
