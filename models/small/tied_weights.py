"""An embedding whose table is, transposed, also the output projection."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft


def build(vocabulary: int = 40, width: int = 8) -> onnx.ModelProto:
    """ids [batch, length] int64 -> logits [batch, length, vocabulary] float32."""
    draft = Draft("tied_weights", seed=9)
    ids = draft.input("ids", ["batch", "length"], np.int64)
    table = draft.weight("embedding.weight", (vocabulary, width), 0.5)
    embedded = draft.add("Gather", table, ids, name="/embedding/Gather")
    weight = draft.weight("hidden.weight", (width, width))
    hidden = draft.add("MatMul", embedded, weight, name="/hidden/MatMul")
    hidden = draft.add("Tanh", hidden, name="/hidden/Tanh")
    head = draft.add("Transpose", table, name="/head/Transpose", perm=[1, 0])
    draft.add("MatMul", hidden, head, name="/head/MatMul", output="logits")
    draft.output("logits", ["batch", "length", vocabulary])
    return draft.model()


def feeds(vocabulary: int = 40, **_: object) -> list[dict[str, NDArray[np.int64]]]:
    """Two batches of token ids."""
    random = np.random.default_rng(9)
    return [{"ids": random.integers(0, vocabulary, (2, length))} for length in (3, 6)]
