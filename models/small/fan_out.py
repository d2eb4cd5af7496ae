"""One value read by many nodes, by turns of kinds that are pinned low, pinned high and free."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal

_KINDS = ("MatMul", "Softmax", "Relu", "Exp")


def build(consumers: int = 32, width: int = 8) -> onnx.ModelProto:
    """x [batch, width] float32 -> y [batch, width] float32."""
    draft = Draft("fan_out", seed=20)
    x = draft.input("x", ["batch", width])
    weight = draft.weight("weight", (width, width), 0.1)
    source = draft.add("MatMul", x, weight, name="/source/MatMul")
    branches = [draft.add("Mul", source, source, name="/square/Mul")]
    for index in range(consumers):
        kind = _KINDS[index % len(_KINDS)]
        operands = (source, weight) if kind == "MatMul" else (source,)
        branches.append(draft.add(kind, *operands, name=f"/branch.{index}/{kind}"))
    draft.add("Sum", *branches, name="/Sum", output="y")
    draft.output("y", ["batch", width])
    return draft.model()


def feeds(width: int = 8, **_: object) -> list[dict[str, NDArray[np.float32]]]:
    """One batch."""
    return [{"x": normal((2, width), 1)}]
