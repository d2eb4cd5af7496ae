"""Graph outputs that other nodes read too, and one value that is an output under two names."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal


def build(width: int = 4) -> onnx.ModelProto:
    """x [batch, width] -> hidden, scores, copy and y, all [batch, width] float32."""
    draft = Draft("output_consumed", seed=11)
    x = draft.input("x", ["batch", width])
    weight = draft.weight("weight", (width, width))
    draft.add("MatMul", x, weight, name="/MatMul", output="hidden")
    draft.add("Softmax", "hidden", name="/Softmax", output="scores", axis=-1)
    draft.add("Identity", "hidden", name="/Identity", output="copy")
    product = draft.add("MatMul", "scores", weight, name="/MatMul_1")
    draft.add("Add", product, "hidden", name="/Add", output="y")
    for name in ("hidden", "scores", "copy", "y"):
        draft.output(name, ["batch", width])
    return draft.model()


def feeds(width: int = 4) -> list[dict[str, NDArray[np.float32]]]:
    """One batch."""
    return [{"x": normal((3, width), 1)}]
