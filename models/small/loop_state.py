"""A Loop with float state, a captured weight, a float scan output and a data-dependent end."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal


def build(width: int = 4, limit: float = 50.0) -> onnx.ModelProto:
    """x [1, width], steps int64 -> final [1, width], history [trips, 1, width], norms [trips]."""
    draft = Draft("loop_state", seed=5)
    x = draft.input("x", [1, width])
    steps = draft.input("steps", [], np.int64)
    weight = draft.weight("loop.weight", (width, width))
    go = draft.constant("go", True, np.bool_)
    ceiling = draft.constant("ceiling", limit)
    start = draft.add("Tanh", x, name="/Tanh")

    body = Draft("body", draft)
    body.input("step", [], np.int64)
    body.input("going", [], np.bool_)
    state = body.input("state", [1, width])
    product = body.add("MatMul", state, weight, name="/Loop/body/MatMul")
    squashed = body.add("Tanh", product, name="/Loop/body/Tanh")
    body.add("Add", state, squashed, name="/Loop/body/Add", output="next_state")
    body.add("ReduceL2", "next_state", name="/Loop/body/ReduceL2", output="norm", keepdims=0)
    body.add("Less", "norm", ceiling, name="/Loop/body/Less", output="go_on")
    body.add("Identity", "next_state", name="/Loop/body/Identity", output="entry")
    body.output("go_on", [], np.bool_)
    body.output("next_state", [1, width])
    body.output("entry", [1, width])
    body.output("norm", [])

    draft.add_many(
        "Loop", [steps, go, start], ["final", "history", "norms"], name="/Loop", body=body.graph()
    )
    draft.output("final", [1, width])
    draft.output("history", ["trips", 1, width])
    draft.output("norms", ["trips"])
    return draft.model()


def feeds(width: int = 4, **_: object) -> list[dict[str, NDArray[np.generic]]]:
    """A short and a longer loop."""
    return [
        {"x": normal((1, width), steps), "steps": np.array(steps, np.int64)} for steps in (3, 8)
    ]
