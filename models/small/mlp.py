"""A multilayer perceptron: Gemm and Relu, then Softmax."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal


def build(
    layers: int = 3, features: int = 16, hidden: int = 32, classes: int = 10
) -> onnx.ModelProto:
    """x [batch, features] float32 -> probabilities [batch, classes] float32."""
    draft = Draft("mlp", seed=1)
    value = draft.input("x", ["batch", features])
    width = features
    for layer in range(layers):
        size = classes if layer == layers - 1 else hidden
        prefix = f"fc{layer}"
        weight = draft.weight(f"{prefix}.weight", (width, size))
        bias = draft.weight(f"{prefix}.bias", (size,), 0.1)
        value = draft.add("Gemm", value, weight, bias, name=f"/{prefix}/Gemm")
        if layer < layers - 1:
            value = draft.add("Relu", value, name=f"/{prefix}/Relu")
        width = size
    probabilities = draft.add("Softmax", value, name="/Softmax", output="probabilities", axis=-1)
    draft.output(probabilities, ["batch", classes])
    return draft.model()


def feeds(features: int = 16, **_: object) -> list[dict[str, NDArray[np.float32]]]:
    """Two batches of three rows."""
    return [{"x": normal((3, features), seed)} for seed in (1, 2)]
