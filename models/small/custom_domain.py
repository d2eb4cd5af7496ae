"""An operator of a domain that nobody knows, with the type of one of its outputs declared.

onnxruntime cannot load it; dtype inference must rely on the declaration, and leave the second
operator, which has none, alone.
"""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal

DOMAIN = "com.example"


def build(width: int = 4) -> onnx.ModelProto:
    """x [batch, width] float32 -> y [batch, width] float32, raw of unknown origin."""
    draft = Draft("custom_domain", seed=17)
    x = draft.input("x", ["batch", width])
    weight = draft.weight("weight", (width, width))
    product = draft.add("MatMul", x, weight, name="/MatMul")
    known = draft.add("Fancy", product, name="/Fancy", domain=DOMAIN, output="fancy", strength=0.5)
    draft.annotate(known, ["batch", width])
    draft.add("MatMul", known, weight, name="/MatMul_1", output="y")
    unknown = draft.add("Opaque", product, name="/Opaque", domain=DOMAIN, output="opaque")
    draft.add("Fancy", unknown, name="/Fancy_1", domain=DOMAIN, output="raw", strength=2.0)
    draft.output("y", ["batch", width])
    draft.output("raw", ["batch", width])
    return draft.model(domains={DOMAIN: 1})


def feeds(width: int = 4) -> list[dict[str, NDArray[np.float32]]]:
    """One batch, for evaluators that know the operators."""
    return [{"x": normal((2, width), 1)}]
