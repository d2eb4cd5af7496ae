"""A model that is float16 throughout, inputs and outputs included, but for one float32 Softmax."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto

from models.draft import Draft, normal


def build(width: int = 8) -> onnx.ModelProto:
    """x [batch, width] float16 -> y [batch, width] float16."""
    draft = Draft("float16", seed=19)
    value = draft.input("x", ["batch", width], np.float16)
    for layer in range(2):
        values = draft.random.standard_normal((width, width)) / np.sqrt(width)
        weight = draft.constant(f"fc{layer}.weight", values, np.float16)
        value = draft.add("MatMul", value, weight, name=f"/fc{layer}/MatMul")
        value = draft.add("Relu", value, name=f"/fc{layer}/Relu")
    wide = draft.add("Cast", value, name="/softmax/Cast", to=TensorProto.FLOAT)
    scores = draft.add("Softmax", wide, name="/softmax/Softmax", axis=-1)
    draft.add("Cast", scores, name="/softmax/Cast_1", output="y", to=TensorProto.FLOAT16)
    draft.output("y", ["batch", width], np.float16)
    return draft.model()


def feeds(width: int = 8) -> list[dict[str, NDArray[np.float16]]]:
    """One batch."""
    return [{"x": normal((2, width), 1).astype(np.float16)}]
