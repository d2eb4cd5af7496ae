from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import models
from mpgraph import ir
from mpgraph.errors import ModelFileError
from mpgraph.ir.files import read_proto
from mpgraph.ir.outline import parse_outline, read_outline

DATA = (
    "raw_data",
    "float_data",
    "int32_data",
    "int64_data",
    "double_data",
    "uint64_data",
    "string_data",
)


def without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    for tensor in model.graph.initializer:
        for field in DATA:
            tensor.ClearField(field)
    return model


@pytest.mark.parametrize("name", models.builders())
def test_only_the_data_of_initializers_is_missing(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    ir.save(ir.load(models.build(name)), path)
    wanted = without_weights(read_proto(path))
    assert read_outline(path) == wanted
    assert parse_outline(path.read_bytes()) == wanted


def test_typed_data_of_initializers_is_left_out_too() -> None:
    tensors = [
        onnx.helper.make_tensor("f", onnx.TensorProto.FLOAT, [2], [1.0, 2.0]),
        onnx.helper.make_tensor("i", onnx.TensorProto.INT64, [1], [5]),
        onnx.helper.make_tensor("s", onnx.TensorProto.STRING, [1], [b"text"]),
    ]
    model = onnx.helper.make_model(onnx.helper.make_graph([], "g", [], [], tensors))
    assert parse_outline(model.SerializeToString()) == without_weights(model)


def test_a_damaged_file_is_refused_wherever_it_ends(tmp_path: Path) -> None:
    weight = np.arange(40, dtype=np.float32)
    graph = onnx.helper.make_graph([], "g", [], [], [onnx.numpy_helper.from_array(weight, "w")])
    content = onnx.helper.make_model(graph).SerializeToString()
    path = tmp_path / "model.onnx"
    for end in range(1, len(content) - 8):
        path.write_bytes(content[:end])
        with pytest.raises(ModelFileError):
            read_outline(path)
    with pytest.raises(ModelFileError, match="holds no ONNX model"):
        parse_outline(b"no model")


def test_a_missing_or_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    with pytest.raises(ModelFileError, match="no such file"):
        read_outline(path)
    path.touch()
    with pytest.raises(ModelFileError, match="is empty"):
        read_outline(path)


def test_text_formats_are_read_as_they_are(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 18]> g (float[n] x) => (float[n] y) { y = Neg (x) }'
    )
    onnx.save(model, tmp_path / "model.textproto")
    assert read_outline(tmp_path / "model.textproto") == model
