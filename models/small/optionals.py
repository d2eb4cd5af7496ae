"""Optional values: made, asked for and taken out again, also in a branch."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal


def build(width: int = 4) -> onnx.ModelProto:
    """x [batch, width] float32 -> y [batch, width] float32, present bool."""
    draft = Draft("optionals", seed=14)
    x = draft.input("x", ["batch", width])
    weight = draft.weight("weight", (width, width))
    product = draft.add("MatMul", x, weight, name="/MatMul")
    wrapped = draft.add("Optional", product, name="/Optional")
    draft.add("OptionalHasElement", wrapped, name="/OptionalHasElement", output="present")

    then = Draft("then", draft)
    taken = then.add("OptionalGetElement", wrapped, name="/If/then/OptionalGetElement")
    then.add("Tanh", taken, name="/If/then/Tanh", output="then_out")
    then.output("then_out", ["batch", width])
    other = Draft("else", draft)
    other.add("Neg", x, name="/If/else/Neg", output="else_out")
    other.output("else_out", ["batch", width])
    draft.add(
        "If",
        "present",
        name="/If",
        output="y",
        then_branch=then.graph(),
        else_branch=other.graph(),
    )
    draft.output("y", ["batch", width])
    draft.output("present", [], np.bool_)
    return draft.model(18)


def feeds(width: int = 4) -> list[dict[str, NDArray[np.float32]]]:
    """One batch."""
    return [{"x": normal((2, width), 1)}]
