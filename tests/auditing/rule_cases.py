"""Small models for each rule: one that breaks it, and its like that does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mpgraph import ir
from tests.runtime.builders import build

LOWEST = float(np.finfo(np.float32).min)
F16, F32 = np.float16, np.float32


@dataclass(frozen=True)
class Case:
    """A rule, a model that breaks it at a value or node, and one that does not.

    Attributes:
        code: The rule.
        broken: A model that breaks it.
        at: The value, or else the node, that the finding names.
        finding: Its text.
        sound: A model that does not.
        target: The target that both are audited for.
        data: Data for the first; the second gets ``harmless``.
        harmless: Data for the second.
    """

    code: str
    broken: Callable[[], Any]
    at: str
    finding: str
    sound: Callable[[], Any]
    target: str | None = None
    data: list[dict[str, Any]] | None = None
    harmless: list[dict[str, Any]] | None = None


def scalar(value: float, dtype: Any = F32) -> np.ndarray:
    return np.array(value, dtype)


def net(nodes: str, size: str = "2", dtype: str = "float", opset: int = 18, **weights: Any):
    text = f"g ({dtype}[{size}] x) => ({dtype}[{size}] y) {{ {nodes} }}"
    return partial(build, text, opset, **weights)


def fed(*values: float) -> list[dict[str, Any]]:
    return [{"x": np.array(values, F32)}]


def masked(mask: float, nodes: str = "m = Where (keep, x, mask) y = Softmax (m)"):
    text = f"g (float[2,4] x, bool[2,4] keep) => (float[2,4] y) {{ {nodes} }}"
    return partial(build, text, mask=scalar(mask))


def quantized(
    bias_scale: float = 0.02 * 0.5,
    scale: float = 0.02,
    zero_point: int = 0,
    weight: int = 60,
    activation: Any = np.uint8,
):
    """DQ, DQ, DQ -> Gemm -> Q -> DQ."""
    return net(
        "q = QuantizeLinear (x, s, z) a = DequantizeLinear (q, s, z) w = DequantizeLinear (wq, ws)"
        " b = DequantizeLinear (bq, bs) h = Gemm (a, w, b) p = QuantizeLinear (h, s, z)"
        " y = DequantizeLinear (p, s, z)",
        "2,2",
        s=scalar(scale),
        z=np.array(zero_point, activation),
        wq=np.full((2, 2), weight, np.int8),
        ws=scalar(0.5),
        bq=np.array([1, 2], np.int32),
        bs=scalar(bias_scale),
    )


def conv_weight(axis: str):
    text = f"""g (float[1,3,4,4] x) => (float[1,2,4,4] y) {{
        w = DequantizeLinear {axis} (wq, ws) y = Conv (x, w) }}"""
    return partial(build, text, wq=np.ones((2, 3, 1, 1), np.int8), ws=np.ones(2, F32))


def named(*names: str) -> Callable[[], ir.Model]:
    def make() -> ir.Model:
        model = net("h = Relu (x) y = Neg (h)")()
        for node, name in zip(model.graph, names, strict=True):
            node.name = name
        return model

    return make


def listed_weight() -> ir.Model:
    model = net("y = Mul (x, w)", w=np.ones(2, F32))()
    model.graph.inputs.append(model.graph.initializers["w"])
    return model


def declared(dtype: ir.DataType, extents: tuple[int, ...]) -> Callable[[], ir.Model]:
    def make() -> ir.Model:
        model = net("h = Relu (x) y = Neg (h)")()
        value = next(iter(model.graph)).outputs[0]
        value.type, value.shape = ir.TensorType(dtype), ir.Shape(extents)
        return model

    return make


def summed(terms: int):
    text = f"g (float16[{terms}] x) => (float16[1] y) {{ y = ReduceSum (x, axes) }}"
    return partial(build, text, axes=np.array([0], np.int64))


CASES = [
    Case(
        "MPG101",
        net("y = Mul (x, big)", big=scalar(1e6)),
        "big",
        "constant outside fp16 range",
        net("y = Mul (x, big)", big=scalar(1e4)),
    ),
    Case(
        "MPG101",
        net("y = LeakyRelu <alpha = 1e6> (x)"),
        "y",
        "constant outside fp16 range",
        net("y = LeakyRelu <alpha = 0.5> (x)"),
    ),
    Case(
        "MPG102",
        net("y = Mul (x, tiny)", tiny=scalar(1e-9)),
        "tiny",
        "constant underflows fp16",
        net("y = Mul (x, tiny)", tiny=scalar(1e-3)),
    ),
    Case(
        "MPG102",
        net("t = Cast <to = 16> (tiny) y = Mul (x, t)", dtype="bfloat16", tiny=scalar(1.3e-40)),
        "tiny",
        "constant underflows bf16",
        net("t = Cast <to = 16> (tiny) y = Mul (x, t)", dtype="bfloat16", tiny=scalar(1e-2)),
    ),
    Case(
        "MPG103",
        net("h = Mul (x, x) y = Sqrt (h)"),
        "h",
        "activation outside fp16 range",
        net("h = Mul (x, x) y = Sqrt (h)"),
        data=fed(1.0, 300.0),
        harmless=fed(1.0, 250.0),
    ),
    Case(
        "MPG103",
        net("h = Mul (x, x) y = Sqrt (h)", dtype="float16"),
        "h",
        "activation outside fp16 range",
        net("h = Mul (x, x) y = Sqrt (h)", dtype="float16"),
        data=[{"x": np.array([1, 300], F16)}],
        harmless=[{"x": np.array([1, 200], F16)}],
    ),
    Case(
        "MPG104",
        net("h = Mul (x, x) y = Add (h, x)"),
        "h",
        "activation underflows fp16",
        net("h = Mul (x, x) y = Add (h, x)"),
        data=fed(1e-4, 2e-4),
        harmless=fed(1e-1, 2e-1),
    ),
    Case(
        "MPG104",
        net("h = Mul (x, x) y = Add (h, x)", "4"),
        "h",
        "activation underflows fp16",
        net("h = Mul (x, x) y = Add (h, x)", "4"),
        data=fed(1e-5, 2e-5, 3e-5, 1.0),
        harmless=fed(1e-1, 2e-1, 3e-1, 1.0),
    ),
    Case(
        "MPG105",
        partial(
            build,
            "g (float[2] x) => (float[2] y) { f = Cast <to = 1> (ids) y = Add (x, f) }",
            ids=np.array([1, 2**24 + 1], np.int64),
        ),
        "ids",
        "integer routed through float32, which cannot hold it",
        partial(
            build,
            "g (float[2] x) => (float[2] y) { f = Cast <to = 1> (ids) y = Add (x, f) }",
            ids=np.array([1, 100], np.int8),
        ),
    ),
    Case(
        "MPG105",
        partial(build, "g (int64[2] x) => (float[2] y) { h = Cast <to = 1> (x) y = Sin (h) }"),
        "h",
        "integer routed through fp16, which cannot hold it",
        partial(build, "g (bool[2] x) => (float[2] y) { h = Cast <to = 1> (x) y = Sin (h) }"),
    ),
    Case(
        "MPG106",
        summed(2049),
        "y",
        "accumulation over many elements in fp16",
        summed(2048),
    ),
    Case(
        "MPG107",
        masked(LOWEST),
        "mask",
        "mask constant becomes -inf in fp16",
        masked(LOWEST, "m = Where (keep, x, mask) y = Relu (m)"),
    ),
    Case(
        "MPG107",
        partial(
            build,
            "g (float16[4] x, bool[4] k) => (float16[4] y) { m = Where (k, x, i) y = Softmax (m) }",
            i=np.array(-np.inf, F16),
        ),
        "i",
        "mask constant is infinite in fp16",
        masked(-1e4),
    ),
    Case(
        "MPG108",
        net("a = Abs (x) d = Add (a, e) y = Div (x, d)", e=scalar(1e-9)),
        "e",
        "epsilon lost in fp16",
        net("a = Abs (x) d = Add (a, e) y = Div (x, d)", e=scalar(1e-3)),
    ),
    Case(
        "MPG108",
        net("v = Mul (x, x) w = Add (v, e) y = Sqrt (w)", dtype="float16", e=scalar(0, F16)),
        "e",
        "epsilon lost in fp16",
        net("v = Mul (x, x) w = Add (v, e) y = Neg (w)", dtype="float16", e=scalar(0, F16)),
    ),
    Case(
        "MPG109",
        net(
            "s = Mul (x, x) m = ReduceMean (s) v = Add (m, e) r = Sqrt (v) y = Div (x, r)",
            e=scalar(1e-3),
        ),
        "r",
        "decomposed normalisation in fp16",
        net("s = Mul (x, x) v = Add (s, e) r = Sqrt (v) y = Div (x, r)", e=scalar(1e-3)),
    ),
    Case(
        "MPG110",
        net("y = Sin (x)"),
        "x",
        "Sin needs more digits than fp16 has",
        net("y = Sin (x)"),
        data=fed(1000.0, 2.0),
        harmless=fed(1.0, 2.0),
    ),
    Case(
        "MPG201",
        net("h = Cast <to = 10> (x) y = Cast <to = 1> (h)"),
        "h",
        "lossy cast pair",
        net("h = Cast <to = 11> (x) y = Cast <to = 1> (h)"),
    ),
    Case(
        "MPG202",
        net("h = Cast <to = 11> (x) i = Identity (h) y = Cast <to = 1> (i)"),
        "h",
        "removable cast pair",
        net("h = Cast <to = 10> (x) y = Cast <to = 1> (h)"),
    ),
    Case(
        "MPG203",
        net("h = Cast <to = 1> (x) y = Neg (h)"),
        "h",
        "cast to the dtype that the value has",
        partial(build, "g (float[2] x) => (double[2] y) { y = Cast <to = 11> (x) }"),
    ),
    Case(
        "MPG301",
        net(
            "q = QuantizeLinear (x, s) d = DequantizeLinear (q, s) t = Tanh (d)"
            " p = QuantizeLinear (t, s) y = DequantizeLinear (p, s)",
            s=scalar(0.1),
        ),
        "d",
        "Q/DQ that cpu does not fuse",
        net(
            "q = QuantizeLinear (x, s) d = DequantizeLinear (q, s) t = Sigmoid (d)"
            " p = QuantizeLinear (t, s) y = DequantizeLinear (p, s)",
            s=scalar(0.1),
        ),
    ),
    Case(
        "MPG302",
        quantized(bias_scale=0.02),
        "b",
        "bias scale differs from input_scale * weight_scale",
        quantized(),
    ),
    Case("MPG303", quantized(scale=0.0), "s", "zero or non-finite scale", quantized()),
    Case("MPG303", quantized(scale=np.inf), "s", "zero or non-finite scale", quantized()),
    Case(
        "MPG304",
        quantized(weight=127),
        "wq",
        "weight range saturates on CPUs without VNNI",
        quantized(weight=63),
    ),
    Case(
        "MPG305",
        quantized(zero_point=3, activation=np.int8),
        "z",
        "zero point is not zero, which tensorrt forbids",
        quantized(activation=np.int8),
        target="tensorrt",
    ),
    Case(
        "MPG306",
        conv_weight(""),
        "w",
        "axis missing on per-axis Q/DQ",
        conv_weight("<axis = 0>"),
    ),
    Case(
        "MPG401",
        net("y = MatMul (x, x)", "2,2", "bfloat16"),
        "y",
        "node without a kernel on cpu",
        net("y = MatMul (x, x)", "2,2"),
        target="cpu",
    ),
    Case(
        "MPG402",
        net("y = MatMul (x, x)", "2,2", "float16"),
        "y",
        "node without a kernel of its own on cpu",
        net("y = MatMul (x, x)", "2,2"),
        target="cpu",
    ),
    Case("MPG501", named("a", "a"), "a (Relu)", "duplicate node name", named("a", "b")),
    Case("MPG502", named("a", ""), "Neg #1 in main", "empty node name", named("a", "b")),
    Case(
        "MPG503",
        listed_weight,
        "w",
        "initializer is also an input",
        net("y = Mul (x, w)", w=np.ones(2, F32)),
    ),
    Case(
        "MPG504",
        declared(ir.DataType.FLOAT16, (2,)),
        "h",
        "value_info contradicts inference",
        declared(ir.DataType.FLOAT, (2,)),
    ),
    Case(
        "MPG504",
        declared(ir.DataType.FLOAT, (3,)),
        "h",
        "value_info contradicts inference",
        declared(ir.DataType.FLOAT, (2,)),
    ),
]
