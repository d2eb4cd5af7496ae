"""Graph outputs that are initializers, one of them also read by a node."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal


def build(width: int = 4) -> onnx.ModelProto:
    """x [batch, width] -> y [batch, width], weight [width, width], table [3], count int64."""
    draft = Draft("initializer_output", seed=10)
    x = draft.input("x", ["batch", width])
    weight = draft.weight("weight", (width, width))
    draft.constant("table", [1.0, 2.5, 1e-9])
    draft.constant("count", 7, np.int64)
    draft.add("MatMul", x, weight, name="/MatMul", output="y")
    draft.output("y", ["batch", width])
    draft.output(weight, [width, width])
    draft.output("table", [3])
    draft.output("count", [], np.int64)
    return draft.model()


def feeds(width: int = 4) -> list[dict[str, NDArray[np.float32]]]:
    """One batch."""
    return [{"x": normal((2, width), 1)}]
