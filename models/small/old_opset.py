"""A model of opset 9: options as attributes, Upsample, the old Softmax, an inference Dropout."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal


def build(channels: int = 4, size: int = 4) -> onnx.ModelProto:
    """x [1, channels, size, size] float32 -> y [1, 2 * channels] float32."""
    draft = Draft("old_opset", seed=21)
    x = draft.input("x", [1, channels, size, size])
    weight = draft.weight("conv.weight", (2 * channels, channels, 3, 3))
    value = draft.add("Conv", x, weight, name="/Conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    value = draft.add("Clip", value, name="/Clip", min=0.0, max=6.0)
    scales = draft.constant("scales", [1.0, 1.0, 2.0, 2.0])
    value = draft.add("Upsample", value, scales, name="/Upsample", mode="nearest")
    value = draft.add("Dropout", value, name="/Dropout", ratio=0.3)
    value = draft.add("Slice", value, name="/Slice", axes=[2, 3], starts=[1, 1], ends=[-1, -1])
    value = draft.add("GlobalAveragePool", value, name="/GlobalAveragePool")
    value = draft.add("Squeeze", value, name="/Squeeze", axes=[2, 3])
    matrix = draft.weight("head.weight", (2 * channels, 2 * channels))
    value = draft.add("Gemm", value, matrix, _bias(draft, channels), name="/Gemm", alpha=0.5)
    draft.add("Softmax", value, name="/Softmax", output="y", axis=1)
    draft.output("y", [1, 2 * channels])
    return draft.model(9, ir_version=4)


def feeds(channels: int = 4, size: int = 4) -> list[dict[str, NDArray[np.float32]]]:
    """Two images."""
    return [{"x": normal((1, channels, size, size), seed)} for seed in (1, 2)]


def _bias(draft: Draft, channels: int) -> str:
    return draft.weight("head.bias", (1, 2 * channels), 0.1)
