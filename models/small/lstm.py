"""A bidirectional LSTM and a GRU over a padded batch, with sequence lengths and initial states."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal


def build(features: int = 6, hidden: int = 8) -> onnx.ModelProto:
    """x [time, batch, features], lengths [batch] int32 -> y [time, batch, hidden], state."""
    draft = Draft("lstm", seed=3)
    x = draft.input("x", ["time", "batch", features])
    lengths = draft.input("lengths", ["batch"], np.int32)
    h0 = draft.input("h0", [2, "batch", hidden])
    c0 = draft.input("c0", [2, "batch", hidden])
    w = draft.weight("lstm.W", (2, 4 * hidden, features), 0.3)
    r = draft.weight("lstm.R", (2, 4 * hidden, hidden), 0.3)
    b = draft.weight("lstm.B", (2, 8 * hidden), 0.1)
    sequence, state, _ = draft.add_many(
        "LSTM",
        [x, w, r, b, lengths, h0, c0],
        [None, "state", "cell"],
        name="/lstm/LSTM",
        direction="bidirectional",
        hidden_size=hidden,
    )
    joined = draft.add("Transpose", sequence, name="/Transpose", perm=[0, 2, 1, 3])
    shape = draft.constant("joined_shape", [0, 0, -1], np.int64)
    joined = draft.add("Reshape", joined, shape, name="/Reshape")
    gru_w = draft.weight("gru.W", (1, 3 * hidden, 2 * hidden), 0.3)
    gru_r = draft.weight("gru.R", (1, 3 * hidden, hidden), 0.3)
    (gru,) = draft.add_many(
        "GRU", [joined, gru_w, gru_r], [None], name="/gru/GRU", hidden_size=hidden
    )
    axes = draft.constant("squeezed_axes", [1], np.int64)
    draft.add("Squeeze", gru, axes, name="/Squeeze", output="y")
    draft.output("y", ["time", "batch", hidden])
    draft.output(state, [2, "batch", hidden])
    draft.output("cell", [2, "batch", hidden])
    return draft.model()


def feeds(features: int = 6, hidden: int = 8) -> list[dict[str, NDArray[np.generic]]]:
    """Two batches of sequences of unequal length."""
    return [
        {
            "x": normal((time, 2, features), time),
            "lengths": np.array([time, time - 2], np.int32),
            "h0": normal((2, 2, hidden), 1, 0.1),
            "c0": np.zeros((2, 2, hidden), np.float32),
        }
        for time in (5, 9)
    ]
