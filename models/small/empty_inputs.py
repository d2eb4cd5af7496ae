"""Left out optional inputs and outputs, and tensors of size zero."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal


def build(size: int = 4) -> onnx.ModelProto:
    """x [1, 2, size, size] float32 -> y [1, 2, 2 * size, 2 * size], state [1, 1, 3]."""
    draft = Draft("empty_inputs", seed=15)
    x = draft.input("x", [1, 2, size, size])
    ceiling = draft.constant("ceiling", 2.0)
    clipped = draft.add("Clip", x, "", ceiling, name="/Clip")
    nothing = draft.constant("nothing", np.zeros((0,)))
    scales = draft.constant("scales", [1.0, 1.0, 2.0, 2.0])
    larger = draft.add("Resize", clipped, nothing, scales, name="/Resize", mode="nearest")
    padding = draft.constant("padding", np.zeros((1, 0, 2 * size, 2 * size)))
    draft.add("Concat", larger, padding, name="/Concat", output="y", axis=1)
    shape = draft.constant("rows", [-1, 1, 2 * size], np.int64)
    rows = draft.add("Reshape", clipped, shape, name="/Reshape")
    w = draft.weight("lstm.W", (1, 12, 2 * size), 0.3)
    r = draft.weight("lstm.R", (1, 12, 3), 0.3)
    initial = draft.constant("initial", np.full((1, 1, 3), 0.1))
    draft.add_many(
        "LSTM", [rows, w, r, "", "", initial], ["", "state"], name="/LSTM", hidden_size=3
    )
    draft.output("y", [1, 2, 2 * size, 2 * size])
    draft.output("state", [1, 1, 3])
    return draft.model()


def feeds(size: int = 4) -> list[dict[str, NDArray[np.float32]]]:
    """One image."""
    return [{"x": normal((1, 2, size, size), 1)}]
