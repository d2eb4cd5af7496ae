"""Operators whose float operands have a fixed type: Resize scales, NonMaxSuppression, TopK."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal


def build(size: int = 8) -> onnx.ModelProto:
    """image [1, 3, size, size] float32 -> chosen [n, 3] int64, best [1, 4], enlarged."""
    draft = Draft("detector", seed=22)
    image = draft.input("image", [1, 3, size, size])
    scales = draft.constant("scales", [1.0, 1.0, 2.0, 2.0])
    weight = draft.weight("neck.weight", (5, 3, 3, 3))
    features = draft.add("Conv", image, weight, name="/neck/Conv", pads=[1, 1, 1, 1])
    draft.add("Resize", features, "", scales, name="/neck/Resize", output="enlarged", mode="linear")
    shape = draft.constant("flat_shape", [1, 5, -1], np.int64)
    flat = draft.add("Reshape", features, shape, name="/head/Reshape")
    flat = draft.add("Sigmoid", flat, name="/head/Sigmoid")
    parts = draft.constant("parts", [4, 1], np.int64)
    boxes, scores = draft.add_many("Split", [flat, parts], [None, None], name="/head/Split", axis=1)
    boxes = draft.add("Transpose", boxes, name="/head/Transpose", perm=[0, 2, 1])
    most = draft.constant("most", 6, np.int64)
    overlap = draft.constant("overlap", 0.5)
    threshold = draft.constant("threshold", 0.1)
    operands = (boxes, scores, most, overlap, threshold)
    draft.add("NonMaxSuppression", *operands, name="/NonMaxSuppression", output="chosen")
    count = draft.constant("count", [4], np.int64)
    flat_scores = draft.add("Flatten", scores, name="/Flatten", axis=1)
    draft.add_many("TopK", [flat_scores, count], ["best", "best_at"], name="/TopK")
    draft.output("chosen", ["n", 3], np.int64)
    draft.output("best", [1, 4])
    draft.output("best_at", [1, 4], np.int64)
    draft.output("enlarged", [1, 5, 2 * size, 2 * size])
    return draft.model()


def feeds(size: int = 8) -> list[dict[str, NDArray[np.float32]]]:
    """One image."""
    return [{"image": normal((1, 3, size, size), 1)}]
