"""Chains of one operator, in float32 and between QuantizeLinear and DequantizeLinear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

__all__ = ["Case", "Chain", "cases"]


@dataclass(frozen=True)
class Case:
    """One operator on one shape.

    Attributes:
        op_type: The operator; with what sets its kernel apart behind a blank.
        shape: Of what it reads, and of what it gives.
        weight: Of the constant operand; empty where there is none.
        group: Of a Conv.
    """

    op_type: str
    shape: tuple[int, ...]
    weight: tuple[int, ...] = ()
    group: int = 1

    @property
    def label(self) -> str:
        """How it is printed."""
        shapes = [self.shape, self.weight] if self.weight else [self.shape]
        return f"{self.op_type} {' '.join('x'.join(map(str, one)) for one in shapes)}"


def cases() -> Iterator[Case]:
    """The ladder."""
    for size in ((1, 1), (4, 32), (14, 14), (24, 96), (56, 56)):
        for channels in (8, 16, 24, 32, 64, 128, 256):
            if size[0] * size[1] * channels > 200_000:
                continue
            image = (1, channels, *size)
            yield Case("Conv", image, (channels, channels, 1, 1))
            if size != (1, 1):
                yield Case("Conv", image, (channels, channels, 3, 3))
                yield Case("Conv depthwise", image, (channels, 1, 3, 3), channels)
                yield Case("Conv depthwise", image, (channels, 1, 5, 5), channels)
    for length in (32, 256, 1024):
        for channels in (8, 32, 64, 256):
            yield Case("Conv", (1, channels, length), (channels, channels, 3))
            yield Case("Conv", (1, channels, length), (channels, channels, 1))
    for rows in (1, 4, 16, 64, 256):
        for width in (16, 32, 64, 128, 256, 512, 1024):
            if rows * width * width <= 1 << 26:
                yield Case("MatMul", (1, rows, width), (width, width))
    for op_type in ("Add", "Mul", "Sigmoid", "LeakyRelu", "AveragePool", "Concat", "Softmax"):
        for shape in ((1, 16, 8, 8), (1, 32, 24, 96), (1, 64, 56, 56)):
            yield Case(op_type, shape)
    for shape in ((1, 16, 8, 8), (1, 32, 24, 96), (1, 64, 56, 56), (1, 256, 14, 14)):
        yield Case("Mul channels", shape)
        yield Case("QDQ", shape)
        yield Case("QDQ Conv", shape)


class Chain:
    """A chain of one operator."""

    def __init__(self, case: Case, *, quantized: bool) -> None:
        self._case = case
        self._quantized = quantized
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._random = np.random.default_rng(0)
        self._count = 0

    def build(self, length: int) -> onnx.ModelProto:
        """The model with so many nodes of the operator."""
        shape = list(self._case.shape)
        value = self._rounded("x") if self._quantized else "x"
        for _ in range(length):
            value = self._step(value)
        graph = helper.make_graph(
            self._nodes,
            "chain",
            [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(value, onnx.TensorProto.FLOAT, None)],
            self._constants,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)

    def _step(self, value: str) -> str:
        case = self._case
        if case.op_type.startswith("QDQ"):
            return self._sandwich(value)
        kind = case.op_type.split()[0]
        match kind:
            case "Conv":
                attributes: dict[str, Any] = {"group": case.group}
                attributes["pads"] = [one // 2 for one in case.weight[2:]] * 2
                operands = [value, *self._weights()]
            case "MatMul":
                attributes, operands = {}, [value, self._weights()[0]]
            case "Add" | "Mul":
                shape = (1, case.shape[1], 1, 1) if "channels" in case.op_type else case.shape
                other = self._constant(self._random.normal(size=shape).astype(np.float32))
                attributes, operands = {}, [value, self._activation(other)]
            case "Concat":
                attributes, operands = {"axis": 1}, [value, value]
            case "AveragePool":
                attributes = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
                operands = [value]
            case "Softmax":
                attributes, operands = {"axis": -1}, [value]
            case _:
                attributes, operands = {}, [value]
        found = self._node(kind, operands, **attributes)
        found = self._rounded(found) if self._quantized else found
        if kind != "Concat":
            return found
        return self._node("Slice", [found, *self._extents()])

    def _sandwich(self, value: str) -> str:
        """A float node, and what stands for one quantized node behind it."""
        found = self._node("Neg", [value])
        if "Conv" in self._case.op_type:
            channels = self._case.shape[1]
            if self._quantized:
                found = self._rounded(found)
            weight = self._weight((channels, channels, 1, 1))
            found = self._node("Conv", [found, weight, self._bias(channels)])
        return self._rounded(found) if self._quantized else found

    def _extents(self) -> list[str]:
        numbers = ([0], [self._case.shape[1]], [1])
        return [self._constant(np.array(one, np.int64)) for one in numbers]

    def _weights(self) -> list[str]:
        return [self._weight(self._case.weight), self._bias(self._case.weight[0])]

    def _weight(self, shape: tuple[int, ...]) -> str:
        axis = 0 if len(shape) > 2 else 1
        channels, size = shape[axis], int(np.prod(shape))
        if not self._quantized:
            scale = np.sqrt(channels / size)
            return self._constant((self._random.normal(size=shape) * scale).astype(np.float32))
        weight = self._constant(self._random.integers(-127, 128, shape).astype(np.int8))
        scale = self._constant(np.full(channels, 0.01, np.float32))
        zeros = self._constant(np.zeros(channels, np.int8))
        return self._node("DequantizeLinear", [weight, scale, zeros], axis=axis)

    def _bias(self, channels: int) -> str:
        if not self._quantized:
            return self._constant(np.zeros(channels, np.float32))
        bias = self._constant(np.zeros(channels, np.int32))
        scale = self._constant(np.full(channels, 0.01 * 0.02, np.float32))
        return self._node("DequantizeLinear", [bias, scale], axis=0)

    def _activation(self, value: str) -> str:
        return self._rounded(value) if self._quantized else value

    def _rounded(self, value: str) -> str:
        scale, zero = self._constant(np.float32(0.02)), self._constant(np.uint8(128))
        return self._node(
            "DequantizeLinear", [self._node("QuantizeLinear", [value, scale, zero]), scale, zero]
        )

    def _constant(self, array: Any) -> str:
        self._count += 1
        name = f"c{self._count}"
        self._constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def _node(self, op_type: str, operands: list[str], **attributes: Any) -> str:
        self._count += 1
        name = f"v{self._count}"
        self._nodes.append(helper.make_node(op_type, operands, [name], name=name, **attributes))
        return name
