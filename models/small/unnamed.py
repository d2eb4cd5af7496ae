"""Nodes without names, as some exporters leave them."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.small import mlp


def build() -> onnx.ModelProto:
    """The perceptron of `mlp`, its nodes unnamed and its values numbered."""
    model = mlp.build()
    numbers: dict[str, str] = {}
    for node in model.graph.node:
        node.name = ""
        for index, name in enumerate(node.input):
            node.input[index] = numbers.get(name, name)
        for index, name in enumerate(node.output):
            if name != "probabilities":
                node.output[index] = numbers[name] = str(len(numbers))
    return model


def feeds() -> list[dict[str, NDArray[np.float32]]]:
    """The inputs of `mlp`."""
    return mlp.feeds()
