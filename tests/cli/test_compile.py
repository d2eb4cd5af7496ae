"""`mpgraph compile`: what it refuses, and what it does with a compiler that answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
import pytest

from mpgraph.runtime import compiled
from tests.cli.conftest import Run, error_of

pytest.importorskip("onnxruntime", reason="compiles with the installed onnxruntime")


class Compiler:
    """Stands for onnxruntime's ModelCompiler; writes a model of `pieces` EPContext nodes."""

    pieces = 1

    def __init__(self, options: Any, source: str | bytes, **kinds: Any) -> None:
        assert kinds == {"embed_compiled_data_into_model": True}
        self.source = source

    def compile_to_file(self, path: str) -> None:
        value = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
        nodes = [
            onnx.helper.make_node("EPContext", ["x"], [f"y{i}"], domain="com.microsoft")
            for i in range(self.pieces)
        ]
        graph = onnx.helper.make_graph(nodes, "g", [value], [])
        onnx.save(onnx.helper.make_model(graph), path)


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> type[Compiler]:
    real = compiled.onnxruntime()
    monkeypatch.setattr(real, "ModelCompiler", Compiler)
    monkeypatch.setattr(compiled, "provider_arguments", lambda provider, settings, options: {})
    return Compiler


def test_the_compiled_model_is_written(
    mpgraph: Run, model_path: Path, compiler: type[Compiler]
) -> None:
    result = mpgraph("compile", model_path, "--target", "openvino")
    assert result.exit_code == 0, result.stderr
    path = model_path.with_name("net_openvino.onnx")
    assert result.stdout.startswith(f"{path}: 1 compiled piece for openvino, ")
    assert path.is_file()
    assert sorted(one.name for one in path.parent.iterdir()) == ["net.onnx", "net_openvino.onnx"]


def test_as_json_to_a_given_path(
    mpgraph: Run, model_path: Path, tmp_path: Path, compiler: type[Compiler]
) -> None:
    out = tmp_path / "out.onnx"
    chosen = "INFERENCE_PRECISION_HINT=bf16"
    result = mpgraph("compile", model_path, "-t", "openvino", "-o", out, "--set", chosen, "--json")
    data = json.loads(result.stdout)
    assert (data["path"], data["compiled_pieces"]) == (str(out), 1)
    assert data["bytes"] == out.stat().st_size


def test_nothing_is_written_where_nothing_was_compiled(
    mpgraph: Run, model_path: Path, compiler: type[Compiler], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiler, "pieces", 0)
    line = error_of(mpgraph("compile", model_path, "-t", "openvino"), status=1)
    assert "takes none of its nodes" in line
    assert [one.name for one in model_path.parent.iterdir()] == ["net.onnx"]


@pytest.mark.parametrize("target", ["cpu", "cuda", "webgpu"])
def test_targets_that_compile_nothing(mpgraph: Run, model_path: Path, target: str) -> None:
    line = error_of(mpgraph("compile", model_path, "--target", target))
    assert "has no compiled form" in line
    assert "openvino" in line


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("-t", "openvino", "--set", "speed=1"), "no setting 'speed'"),
        (("-t", "openvino", "--set", "speed"), "not NAME=VALUE"),
        (("-t", "opnvino"), "did you mean openvino"),
        ((), "--target"),
    ],
)
def test_arguments_that_are_refused(
    mpgraph: Run, model_path: Path, arguments: tuple[str, ...], expected: str
) -> None:
    assert expected in error_of(mpgraph("compile", model_path, *arguments))


def test_the_input_is_never_the_output(mpgraph: Run, model_path: Path) -> None:
    line = error_of(mpgraph("compile", model_path, "-t", "openvino", "-o", model_path))
    assert "is the input itself" in line
