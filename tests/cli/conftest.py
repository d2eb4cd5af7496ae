from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from click.testing import CliRunner, Result

from mpgraph.cli.app import app

MODEL = """
<ir_version: 10, opset_import: ["": 20]>
net (float[N, 16] x) => (float[N, 16] y) {
    hidden = MatMul(x, w1)
    active = Relu(hidden)
    probabilities = Softmax(active)
    y = MatMul(probabilities, w2)
}
"""


class Run:
    """Runs `mpgraph` in this process."""

    def __call__(self, *arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def mpgraph() -> Run:
    return Run()


@pytest.fixture
def model_path(tmp_path: Path) -> Path:
    """x -> MatMul `first` -> Relu `act` -> Softmax `soft` -> MatMul `last` -> y, with weights."""
    model = onnx.parser.parse_model(MODEL)
    generator = np.random.default_rng(0)
    for name in ("w1", "w2"):
        weight = generator.standard_normal((16, 16)).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(weight, name))
    for node, name in zip(model.graph.node, ("first", "act", "soft", "last"), strict=True):
        node.name = name
    path = tmp_path / "net.onnx"
    onnx.save(model, path)
    return path


@pytest.fixture
def data_path(tmp_path: Path) -> Path:
    path = tmp_path / "feeds.npz"
    x = np.random.default_rng(1).standard_normal((3, 16)).astype(np.float32)
    np.savez(path, x=x)
    return path


def error_of(result: Result, status: int = 2) -> str:
    """The one line on stderr of a refused command, with nothing on stdout."""
    assert result.exit_code == status, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    return line
