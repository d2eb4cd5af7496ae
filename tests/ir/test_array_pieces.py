"""Tensors in pieces: the same elements as at once, from memory and from files."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest

import models
import mpgraph
from mpgraph import ir

DTYPES = [np.float32, np.float16, np.int8, np.int64, ml_dtypes.bfloat16, ml_dtypes.int4]


def saved(tmp_path, array):
    """The tensor of a model whose weight lies in a file."""
    value = ir.Value(name="w", const_value=ir.tensor(array, name="w"))
    value.type, value.shape = ir.TensorType(value.const_value.dtype), ir.Shape(array.shape)
    graph = ir.Graph([], [value], nodes=[], initializers=[value], opset_imports={"": 21}, name="g")
    path = tmp_path / "model.onnx"
    ir.save(ir.Model(graph, ir_version=10), path, external=True)
    return ir.load(path).graph.initializers["w"].const_value


@pytest.mark.parametrize("size", [0, 3, 700_001])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_pieces_are_the_elements_in_order(tmp_path, dtype, size):
    array = (np.arange(size) % 7).astype(dtype)
    for tensor in (ir.tensor(array, name="w"), saved(tmp_path, array)):
        pieces = [piece.copy() for piece in ir.array_pieces(tensor)]
        assert all(piece.nbytes <= 1 << 20 for piece in pieces)
        together = np.concatenate(pieces) if pieces else np.empty(0, dtype)
        assert together.dtype == array.dtype
        assert together.tobytes() == array.tobytes()


def test_a_file_that_has_become_shorter_is_an_error(tmp_path):
    tensor = saved(tmp_path, np.ones(1000, np.float32))
    assert isinstance(tensor, ir.ExternalTensor)
    with open(tensor.path, "r+b") as file:
        file.truncate((tensor.offset or 0) + 100)
    with pytest.raises(mpgraph.ModelFileError, match="middle"):
        list(ir.array_pieces(tensor))


def test_a_model_without_refusals_loads_as_ever(tmp_path):
    path = tmp_path / "model.onnx"
    onnx.save(models.build("mlp"), path)
    model, refused = ir.load_with_refusals(path)
    assert ir.print_model(model) == ir.print_model(ir.load(path))
    assert refused == {}
    assert ir.load_with_refusals(model) == (model, {})
