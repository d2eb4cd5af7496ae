"""A small model that is already quantized: Q/DQ around Conv and MatMul, int8 weights."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal


def build(channels: int = 4, size: int = 6) -> onnx.ModelProto:
    """x [1, channels, size, size] float32 -> y [1, 5] float32."""
    draft = Draft("qdq", seed=16)
    x = draft.input("x", [1, channels, size, size])
    image = _quantized(draft, x, "x", 0.03)
    kernel = _stored(draft, "conv.weight", (channels, channels, 3, 3), axis=0)
    bias = draft.weight("conv.bias", (channels,), 0.1)
    value = draft.add("Conv", image, kernel, bias, name="/conv/Conv", pads=[1, 1, 1, 1])
    value = draft.add("Relu", value, name="/conv/Relu")
    value = _quantized(draft, value, "conv", 0.04)
    value = draft.add("GlobalAveragePool", value, name="/pool/GlobalAveragePool")
    value = draft.add("Flatten", value, name="/Flatten")
    value = _quantized(draft, value, "pool", 0.02)
    weight = _stored(draft, "head.weight", (channels, 5), axis=1)
    draft.add("MatMul", value, weight, name="/head/MatMul", output="y")
    draft.output("y", [1, 5])
    return draft.model()


def feeds(channels: int = 4, size: int = 6) -> list[dict[str, NDArray[np.float32]]]:
    """Two images."""
    return [{"x": normal((1, channels, size, size), seed)} for seed in (1, 2)]


def _quantized(draft: Draft, value: str, prefix: str, scale: float) -> str:
    parameters = (
        draft.constant(f"{prefix}_scale", scale),
        draft.constant(f"{prefix}_zero_point", 128, np.uint8),
    )
    stored = draft.add("QuantizeLinear", value, *parameters, name=f"/{prefix}/QuantizeLinear")
    return draft.add("DequantizeLinear", stored, *parameters, name=f"/{prefix}/DequantizeLinear")


def _stored(draft: Draft, name: str, shape: tuple[int, ...], axis: int) -> str:
    values = draft.random.integers(-127, 128, shape)
    stored = draft.constant(f"{name}_quantized", values, np.int8)
    scales = draft.constant(f"{name}_scale", np.linspace(0.002, 0.004, shape[axis]))
    zeros = draft.constant(f"{name}_zero_point", np.zeros(shape[axis]), np.int8)
    path = f"/{name}/DequantizeLinear"
    return draft.add("DequantizeLinear", stored, scales, zeros, name=path, axis=axis)
