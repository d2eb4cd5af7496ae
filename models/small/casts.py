"""Casts that the model's author put there: an intended rounding, integers, double, booleans."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto

from models.draft import Draft, normal


def build(width: int = 4) -> onnx.ModelProto:
    """x [batch, width] float32, ids [batch] int64 -> y [batch, width], exact float64."""
    draft = Draft("casts", seed=18)
    x = draft.input("x", ["batch", width])
    ids = draft.input("ids", ["batch"], np.int64)
    half = draft.add("Cast", x, name="/round/Cast", to=TensorProto.FLOAT16)
    rounded = draft.add("Cast", half, name="/round/Cast_1", to=TensorProto.FLOAT)
    weight = draft.weight("weight", (width, width))
    product = draft.add("MatMul", rounded, weight, name="/MatMul")
    numbers = draft.add("Cast", ids, name="/ids/Cast", to=TensorProto.FLOAT)
    axes = draft.constant("axes", [1], np.int64)
    column = draft.add("Unsqueeze", numbers, axes, name="/ids/Unsqueeze")
    limit = draft.constant("limit", 2000.0)
    small = draft.add("Less", column, limit, name="/ids/Less")
    mask = draft.add("Cast", small, name="/ids/Cast_1", to=TensorProto.FLOAT)
    draft.add("Mul", product, mask, name="/Mul", output="y")
    wide = draft.add("Cast", product, name="/wide/Cast", to=TensorProto.DOUBLE)
    draft.add("ReduceSum", wide, name="/wide/ReduceSum", output="exact", keepdims=0)
    draft.output("y", ["batch", width])
    draft.output("exact", [], np.float64)
    return draft.model()


def feeds(width: int = 4) -> list[dict[str, NDArray[np.generic]]]:
    """One batch with ids beyond what float16 counts exactly."""
    return [{"x": normal((3, width), 1), "ids": np.array([1, 2049, 1999], np.int64)}]
