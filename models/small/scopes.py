"""Module scopes as the torch.export based exporter leaves them: in metadata, names flat."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal

_SCOPES = "pkg.torch.onnx.name_scopes"


def build(layers: int = 2, width: int = 8) -> onnx.ModelProto:
    """x [batch, width] float32 -> y [batch, width] float32."""
    draft = Draft("scopes", seed=23)
    value = draft.input("x", ["batch", width])
    for layer in range(layers):
        module = f"encoder.layers.{layer}"
        weight = draft.weight(f"{module}.linear.weight", (width, width))
        product = _scoped(draft, "MatMul", (value, weight), f"{module}.linear")
        scores = _scoped(draft, "Softmax", (product,), f"{module}.attention")
        value = _scoped(draft, "Add", (scores, value), module)
    draft.add("Identity", value, name="node_output", output="y")
    draft.output("y", ["batch", width])
    return draft.model()


def feeds(width: int = 8, **_: object) -> list[dict[str, NDArray[np.float32]]]:
    """One batch."""
    return [{"x": normal((2, width), 1)}]


def _scoped(draft: Draft, op_type: str, operands: tuple[str, ...], module: str) -> str:
    name = draft.unique(f"node_{op_type}")
    attributes = {"axis": -1} if op_type == "Softmax" else {}
    value = draft.add(op_type, *operands, name=name, output=f"val_{name}", **attributes)
    parts = module.split(".")
    prefixes = [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
    entry = draft.nodes[-1].metadata_props.add()
    entry.key, entry.value = _SCOPES, repr(["", *prefixes, op_type.lower()])
    return value
