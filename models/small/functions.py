"""Local functions: one called twice with different weights, one nested, one with an attribute."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper

from models.draft import Draft, normal

DOMAIN = "example.local"
_IMPORTS = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]


def build(width: int = 8) -> onnx.ModelProto:
    """x [batch, width] float32 -> y [batch, width] float32."""
    draft = Draft("functions", seed=7)
    value = draft.input("x", ["batch", width])
    for block in range(2):
        prefix = f"blocks.{block}"
        weight = draft.weight(f"{prefix}.weight", (width, width))
        bias = draft.weight(f"{prefix}.bias", (width,), 0.1)
        value = draft.add(
            "Block", value, weight, bias, name=f"/{prefix}/Block", domain=DOMAIN, slope=0.1 * block
        )
    draft.add("Normalize", value, name="/norm/Normalize", domain=DOMAIN, output="y")
    draft.output("y", ["batch", width])
    return draft.model(domains={DOMAIN: 1}, functions=[_normalize(), _block()])


def feeds(width: int = 8) -> list[dict[str, NDArray[np.float32]]]:
    """Two batches of different size."""
    return [{"x": normal((rows, width), rows)} for rows in (2, 3)]


def _normalize() -> onnx.FunctionProto:
    epsilon = helper.make_tensor("epsilon_value", onnx.TensorProto.FLOAT, [], [1e-5])
    nodes = [
        helper.make_node("Constant", [], ["epsilon"], value=epsilon, name="epsilon"),
        helper.make_node("ReduceMean", ["x"], ["mean"], axes=[-1], name="mean"),
        helper.make_node("Sub", ["x", "mean"], ["centred"], name="sub"),
        helper.make_node("Mul", ["centred", "centred"], ["squared"], name="square"),
        helper.make_node("ReduceMean", ["squared"], ["variance"], axes=[-1], name="variance"),
        helper.make_node("Add", ["variance", "epsilon"], ["shifted"], name="add"),
        helper.make_node("Sqrt", ["shifted"], ["deviation"], name="sqrt"),
        helper.make_node("Div", ["centred", "deviation"], ["y"], name="div"),
    ]
    return helper.make_function(DOMAIN, "Normalize", ["x"], ["y"], nodes, _IMPORTS)


def _block() -> onnx.FunctionProto:
    activation = helper.make_node("LeakyRelu", ["biased"], ["active"], name="activation")
    slope = activation.attribute.add()
    slope.name, slope.ref_attr_name, slope.type = "alpha", "slope", onnx.AttributeProto.FLOAT
    nodes = [
        helper.make_node("Normalize", ["x"], ["normal"], domain=DOMAIN, name="normalize"),
        helper.make_node("MatMul", ["normal", "w"], ["product"], name="matmul"),
        helper.make_node("Add", ["product", "b"], ["biased"], name="bias"),
        activation,
        helper.make_node("Add", ["x", "active"], ["y"], name="residual"),
    ]
    return helper.make_function(
        DOMAIN, "Block", ["x", "w", "b"], ["y"], nodes, _IMPORTS, attributes=["slope"]
    )
