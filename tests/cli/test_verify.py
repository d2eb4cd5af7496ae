from __future__ import annotations

import json
from pathlib import Path

import click
import numpy as np
import onnx
import pytest

from mpgraph.cli.shapes import parse_shapes
from mpgraph.cli.tolerance import parse_tolerances
from tests.cli.conftest import Run, error_of


@pytest.fixture
def scaled_path(model_path: Path) -> Path:
    """The model with its last weight scaled by 1.05: every output is 5 % off."""
    model = onnx.load(model_path)
    weight = onnx.numpy_helper.to_array(model.graph.initializer[1])
    scaled = onnx.numpy_helper.from_array((weight * 1.05).astype(np.float32), "w2")
    model.graph.initializer[1].CopyFrom(scaled)
    path = model_path.with_name("scaled.onnx")
    onnx.save(model, path)
    return path


def test_equal_models_agree(mpgraph: Run, model_path: Path, data_path: Path) -> None:
    result = mpgraph("verify", model_path, model_path, "--data", data_path)
    assert result.exit_code == 0, result.output
    assert "all outputs are within tolerance" in result.stdout


def test_random_data_is_labelled(mpgraph: Run, model_path: Path) -> None:
    result = mpgraph("verify", model_path, model_path, "--input-shapes", "x:2,16")
    assert result.exit_code == 0, result.output
    assert "data: random" in result.stdout


def test_a_difference_is_status_1(
    mpgraph: Run, model_path: Path, scaled_path: Path, data_path: Path
) -> None:
    result = mpgraph("verify", model_path, scaled_path, "--data", data_path)
    assert result.exit_code == 1
    assert result.stderr == ""
    assert "1 of 1 outputs differ" in result.stdout


@pytest.mark.parametrize("options", [("--rtol", "0.1"), ("--rtol", "y:0.1"), ("--abs_tol", "y:9")])
def test_a_tolerance_lets_it_pass(
    mpgraph: Run, model_path: Path, scaled_path: Path, data_path: Path, options: tuple[str, str]
) -> None:
    result = mpgraph("verify", model_path, scaled_path, "--data", data_path, *options)
    assert result.exit_code == 0, result.output


def test_json_and_layers(
    mpgraph: Run, model_path: Path, scaled_path: Path, data_path: Path
) -> None:
    result = mpgraph(
        "verify", model_path, scaled_path, "--data", data_path, "--json", "--per-layer"
    )
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert (data["passed"], data["failed"]) == (False, ["y"])
    layers = {layer["name"]: layer for layer in data["layers"]}
    assert layers["hidden"]["max_abs"] == 0
    assert layers["hidden"]["sqnr_db"] == "inf"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rtol", "z:0.1"], "no such output"),
        (["--rtol", "much"], "neither VALUE nor OUTPUT:VALUE"),
        (["--rtol", "-1"], "not 0 or more"),
        (["--input-shapes", "x=1,2"], "--input-shapes"),
        (["--target", "gpu9"], "gpu9"),
    ],
)
def test_bad_options_are_one_line(
    mpgraph: Run, model_path: Path, data_path: Path, options: list[str], said: str
) -> None:
    line = error_of(mpgraph("verify", model_path, model_path, "--data", data_path, *options))
    assert said in line


def test_shapes_in_three_forms() -> None:
    texts = ["x:1,3", "a:b:[2, 4]", "z:5x6", "s:[]"]
    assert parse_shapes(texts) == {"x": (1, 3), "a:b": (2, 4), "z": (5, 6), "s": ()}


def test_tolerances_per_output() -> None:
    tolerance = parse_tolerances("--rtol", ["0.5", "out:0:0.25"], 0.1)
    assert (tolerance.of("out:0"), tolerance.of("other")) == (0.25, 0.5)
    with pytest.raises(click.UsageError, match="nan"):
        parse_tolerances("--rtol", ["nan"], 0.1)


@pytest.fixture
def low_path(mpgraph: Run, model_path: Path, tmp_path: Path) -> Path:
    """The model converted to float16."""
    path = tmp_path / "low.onnx"
    done = mpgraph("convert", model_path, "-o", path, "--target", "cuda")
    assert done.exit_code == 0, done.output
    return path


def test_low_values_are_emulated_on_the_cpu_unless_refused(
    mpgraph: Run, model_path: Path, low_path: Path, data_path: Path
) -> None:
    def emulated(*arguments: object) -> bool:
        result = mpgraph("verify", *arguments, "--data", data_path, "--json")
        assert result.exit_code == 0, result.output
        return bool(json.loads(result.stdout)["emulated"])

    assert emulated(model_path, low_path)
    assert emulated(low_path, model_path)
    assert not emulated(model_path, model_path)
    assert emulated(model_path, model_path, "--emulate")
    assert not emulated(model_path, low_path, "--no-emulate")


def test_the_first_lines_say_what_the_numbers_rest_on(
    mpgraph: Run, model_path: Path, low_path: Path, data_path: Path
) -> None:
    random = mpgraph("verify", model_path, low_path).stdout.splitlines()
    assert random[0].startswith("Random data")
    assert "(--emulate)" in random[1]
    given = mpgraph("verify", model_path, low_path, "--data", data_path, "--no-emulate")
    assert "(--no-emulate)" in given.stdout.splitlines()[0]
    assert "Random" not in given.stdout


def test_a_page_with_the_error_by_depth(
    mpgraph: Run, model_path: Path, low_path: Path, data_path: Path, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    result = mpgraph("verify", model_path, low_path, "--data", data_path, "--html", page)
    assert result.exit_code == 0, result.output
    assert f"written to {page}" in result.stdout
    text = page.read_text(encoding="utf-8")
    assert "<svg" in text
    assert "net.onnx and low.onnx" in text
    assert "hidden" in text
    line = error_of(mpgraph("verify", model_path, low_path, "--html", model_path))
    assert "is the input itself" in line


def test_where_it_begins_is_said(
    mpgraph: Run, model_path: Path, scaled_path: Path, data_path: Path
) -> None:
    plain = mpgraph("verify", model_path, scaled_path, "--data", data_path)
    assert "--per-layer shows where it begins" in plain.stdout
    layers = mpgraph("verify", model_path, scaled_path, "--data", data_path, "--per-layer")
    assert "first layer that diverges: y (MatMul last)" in layers.stdout
    data = json.loads(
        mpgraph(
            "verify", model_path, scaled_path, "--data", data_path, "--per-layer", "--json"
        ).stdout
    )
    assert data["first_divergence"] == "y"
    assert data["not_compared"] == []


def test_a_target_that_computes_in_steps_is_said(
    mpgraph: Run, model_path: Path, low_path: Path, data_path: Path
) -> None:
    feeds = ("--data", data_path, "--emulate", "--target")
    steps = "Sums and functions of float16 in the steps of webgpu, each of which rounds."
    assert steps in mpgraph("verify", model_path, low_path, *feeds, "webgpu").stdout
    assert steps not in mpgraph("verify", model_path, low_path, *feeds, "cuda").stdout
