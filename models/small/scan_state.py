"""A Scan: a recurrent cell with float state, captured weights and a float output per step."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal


def build(width: int = 4) -> onnx.ModelProto:
    """h0 [batch, width], xs [time, batch, width] -> last like h0, ys like xs, all float32."""
    draft = Draft("scan_state", seed=6)
    h0 = draft.input("h0", ["batch", width])
    xs = draft.input("xs", ["time", "batch", width])
    wx = draft.weight("cell.wx", (width, width))
    wh = draft.weight("cell.wh", (width, width))

    body = Draft("cell", draft)
    h = body.input("h", ["batch", width])
    x = body.input("x", ["batch", width])
    bias = body.weight("cell.bias", (width,), 0.1)
    from_input = body.add("MatMul", x, wx, name="/Scan/MatMul")
    from_state = body.add("MatMul", h, wh, name="/Scan/MatMul_1")
    both = body.add("Add", from_input, from_state, name="/Scan/Add")
    biased = body.add("Add", both, bias, name="/Scan/Add_1")
    body.add("Tanh", biased, name="/Scan/Tanh", output="h_next")
    body.add("Sigmoid", "h_next", name="/Scan/Sigmoid", output="y")
    body.output("h_next", ["batch", width])
    body.output("y", ["batch", width])

    draft.add_many(
        "Scan", [h0, xs], ["last", "ys"], name="/Scan", body=body.graph(), num_scan_inputs=1
    )
    draft.output("last", ["batch", width])
    draft.output("ys", ["time", "batch", width])
    return draft.model()


def feeds(width: int = 4) -> list[dict[str, NDArray[np.float32]]]:
    """Two sequences of different length."""
    return [
        {"h0": normal((2, width), 1, 0.1), "xs": normal((time, 2, width), time)} for time in (3, 7)
    ]
