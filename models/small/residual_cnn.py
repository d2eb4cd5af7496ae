"""A residual convolutional classifier, with batch normalisation or without."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal


def build(
    blocks: int = 3, channels: int = 8, size: int = 16, batch_norm: bool = True
) -> onnx.ModelProto:
    """image [batch, 3, size, size] float32 -> logits [batch, 10] float32."""
    draft = Draft("residual_cnn", seed=2)
    value = _conv(
        draft, draft.input("image", ["batch", 3, size, size]), "stem", 3, channels, batch_norm
    )
    value = draft.add("Relu", value, name="/stem/Relu")
    value = draft.add("MaxPool", value, name="/stem/MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    for block in range(blocks):
        prefix = f"blocks.{block}"
        inner = _conv(draft, value, f"{prefix}.conv1", channels, channels, batch_norm)
        inner = draft.add("Relu", inner, name=f"/{prefix}/Relu")
        inner = _conv(draft, inner, f"{prefix}.conv2", channels, channels, batch_norm)
        value = draft.add("Add", inner, value, name=f"/{prefix}/Add")
        value = draft.add("Relu", value, name=f"/{prefix}/Relu_1")
    pooled = draft.add("GlobalAveragePool", value, name="/pool/GlobalAveragePool")
    flat = draft.add("Flatten", pooled, name="/Flatten", axis=1)
    weight = draft.weight("head.weight", (channels, 10))
    bias = draft.weight("head.bias", (10,), 0.1)
    draft.add("Gemm", flat, weight, bias, name="/head/Gemm", output="logits")
    draft.output("logits", ["batch", 10])
    return draft.model()


def feeds(size: int = 16, **_: object) -> list[dict[str, NDArray[np.float32]]]:
    """Two images, normalised to about unit variance."""
    return [{"image": normal((1, 3, size, size), seed)} for seed in (1, 2)]


def _conv(
    draft: Draft, value: str, prefix: str, inputs: int, outputs: int, batch_norm: bool
) -> str:
    weight = draft.weight(f"{prefix}.weight", (outputs, inputs, 3, 3))
    bias = draft.weight(f"{prefix}.bias", (outputs,), 0.1)
    path = f"/{prefix.replace('.conv', '/conv')}"
    value = draft.add(
        "Conv", value, weight, bias, name=f"{path}/Conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]
    )
    if not batch_norm:
        return value
    ones = np.ones(outputs)
    statistics = (
        draft.constant(f"{prefix}.bn.weight", ones),
        draft.constant(f"{prefix}.bn.bias", ones * 0.1),
        draft.constant(f"{prefix}.bn.running_mean", ones * 0.05),
        draft.constant(f"{prefix}.bn.running_var", ones * 0.9),
    )
    return draft.add("BatchNormalization", value, *statistics, name=f"{path}/BatchNormalization")
