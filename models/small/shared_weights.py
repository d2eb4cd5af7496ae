"""One initializer read by several nodes of different kinds, and one read twice by one node."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal


def build(width: int = 6) -> onnx.ModelProto:
    """x [batch, width] float32 -> y [batch, width] float32."""
    draft = Draft("shared_weights", seed=8)
    x = draft.input("x", ["batch", width])
    weight = draft.weight("shared.weight", (width, width))
    bias = draft.weight("shared.bias", (width,), 0.2)
    value = draft.add("MatMul", x, weight, name="/first/MatMul")
    value = draft.add("Add", value, bias, name="/first/Add")
    value = draft.add("Softmax", value, name="/first/Softmax", axis=-1)
    value = draft.add("MatMul", value, weight, name="/second/MatMul")
    value = draft.add("Mul", value, bias, name="/second/Mul")
    gram = draft.add("MatMul", weight, weight, name="/gram/MatMul")
    energy = draft.add("ReduceMean", gram, name="/gram/ReduceMean", keepdims=0)
    draft.add("Add", value, energy, name="/Add", output="y")
    draft.output("y", ["batch", width])
    return draft.model()


def feeds(width: int = 6) -> list[dict[str, NDArray[np.float32]]]:
    """Two batches."""
    return [{"x": normal((2, width), seed)} for seed in (1, 2)]
