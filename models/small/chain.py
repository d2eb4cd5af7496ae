"""A deep chain of small nodes, some of which a policy pins high and some low."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal

_FREE = ("Add", "Mul", "Relu", "Neg", "Tanh")


def build(
    length: int = 100,
    pinned: float = 0.2,
    matmuls: float = 0.0,
    residual_every: int = 0,
    width: int = 8,
) -> onnx.ModelProto:
    """x [batch, width] float32 -> y [batch, width] float32, through `length` nodes.

    Args:
        length: Number of nodes.
        pinned: Fraction of nodes that are Softmax, spread evenly; a rule `op:Softmax` pins them.
        matmuls: Fraction of nodes that are MatMul, which a mixed policy pins low.
        residual_every: After so many nodes one adds the value of that many nodes before; 0 never.
        width: Size of the last axis.
    """
    draft = Draft("chain", seed=12)
    shared = {
        "Add": draft.weight("bias", (width,), 0.5),
        "Mul": draft.constant("scale", np.linspace(0.5, 1.5, width)),
        "MatMul": draft.weight("weight", (width, width)),
    }
    values = [draft.input("x", ["batch", width])]
    free_nodes = last_residual = 0
    for index in range(length):
        op_type = _pinned_operator(index, pinned, matmuls)
        operands = [values[-1]]
        if op_type is None:
            op_type = _FREE[free_nodes % len(_FREE)]
            free_nodes += 1
            if residual_every and index - last_residual >= residual_every:
                op_type, last_residual = "Add", index
                operands.append(values[index - residual_every])
        if op_type in shared and len(operands) == 1:
            operands.append(shared[op_type])
        attributes = {"axis": -1} if op_type == "Softmax" else {}
        output = "y" if index == length - 1 else f"value_{index}"
        name = f"/chain/{index}/{op_type}"
        values.append(draft.add(op_type, *operands, name=name, output=output, **attributes))
    draft.output(values[-1], ["batch", width])
    read = {name for node in draft.nodes for name in node.input}
    draft.initializers = [tensor for tensor in draft.initializers if tensor.name in read]
    return draft.model()


def feeds(width: int = 8, **_: object) -> list[dict[str, NDArray[np.float32]]]:
    """One batch."""
    return [{"x": normal((2, width), 1)}]


def _pinned_operator(index: int, pinned: float, matmuls: float) -> str | None:
    if _falls_on(index, pinned):
        return "Softmax"
    if _falls_on(index + 1, matmuls):
        return "MatMul"
    return None


def _falls_on(index: int, fraction: float) -> bool:
    return int((index + 1) * fraction) > int(index * fraction)
