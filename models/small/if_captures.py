"""Nested Ifs whose branches capture values and initializers of every graph around them."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal


def build(width: int = 4) -> onnx.ModelProto:
    """x [batch, width], flag bool -> y [batch, width]; the sum of x decides the inner branch."""
    draft = Draft("if_captures", seed=4)
    x = draft.input("x", ["batch", width])
    flag = draft.input("flag", [], np.bool_)
    weight = draft.weight("shared.weight", (width, width))
    hidden = draft.add("MatMul", x, weight, name="/MatMul")
    total = draft.add("ReduceSum", x, name="/ReduceSum", keepdims=0)
    limit = draft.constant("limit", 0.0)
    positive = draft.add("Greater", total, limit, name="/Greater")

    then = Draft("then", draft)
    inner = then.add("Relu", hidden, name="/If/then/Relu")
    deep = Draft("deep", then)
    deep.add("MatMul", inner, weight, name="/If/then/If/then/MatMul", output="deep_out")
    deep.output("deep_out", ["batch", width])
    flat = Draft("flat", then)
    scale = flat.constant("flat.scale", 0.5)
    flat.add("Mul", x, scale, name="/If/then/If/else/Mul", output="flat_out")
    flat.output("flat_out", ["batch", width])
    then.add(
        "If",
        positive,
        name="/If/then/If",
        output="then_out",
        then_branch=deep.graph(),
        else_branch=flat.graph(),
    )
    then.output("then_out", ["batch", width])

    other = Draft("else", draft)
    bias = other.weight("else.bias", (width,), 0.5)
    shifted = other.add("Add", hidden, bias, name="/If/else/Add")
    other.add("Softmax", shifted, name="/If/else/Softmax", output="else_out", axis=-1)
    other.output("else_out", ["batch", width])

    chosen = draft.add("If", flag, name="/If", then_branch=then.graph(), else_branch=other.graph())
    draft.add("Add", chosen, hidden, name="/Add", output="y")
    draft.output("y", ["batch", width])
    return draft.model()


def feeds(width: int = 4) -> list[dict[str, NDArray[np.generic]]]:
    """Inputs that reach each of the three branches."""
    x = np.abs(normal((2, width), 1))
    return [
        {"x": x, "flag": np.array(True)},
        {"x": -x, "flag": np.array(True)},
        {"x": x, "flag": np.array(False)},
    ]
