"""bfloat16 on OpenVINO's CPU kernels beside the emulation, and its precision setting."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import models
import mpgraph
from mpgraph import ir
from mpgraph.runtime import create_session, run
from tests.providers.attention import attention, attention_feed
from tests.providers.device import BF16, Array, both, emulate, finite, of_one, of_range, ulps
from tests.runtime.builders import build

pytestmark = pytest.mark.openvino

Measured = Callable[[str], None]
HINT = "INFERENCE_PRECISION_HINT"


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("op", ["Abs", "Neg", "Relu", "Sqrt", "Reciprocal"])
def test_one_step_of_every_value_is_emulated_to_the_ulp(op: str, measured: Measured) -> None:
    model = build(f"g (bfloat16[n] x) => (bfloat16[n] y) {{ y = {op} (x) }}")
    off = ulps(*both(model, "openvino", x=finite(BF16)))
    measured(f"openvino bfloat16 {op}: {off} ulp from the emulation, every finite value")
    assert off <= 1


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div"])
def test_arithmetic_is_emulated_to_the_ulp(op: str, measured: Measured) -> None:
    model = build(f"g (bfloat16[n] a, bfloat16[n] b) => (bfloat16[n] y) {{ y = {op} (a, b) }}")
    values = finite(BF16)
    # OpenVINO takes subnormals for zero.
    values = values[np.abs(values.astype(np.float32)) >= np.finfo(np.float32).tiny]
    generator = np.random.default_rng(1)
    a, b = (generator.permutation(values) for _ in range(2))
    off = ulps(*both(model, "openvino", a=a, b=b))
    measured(f"openvino bfloat16 {op}: {off} ulp from the emulation, every normal value")
    assert off <= 1


@pytest.mark.parametrize("op", ["Erf", "Exp", "HardSwish", "Sigmoid", "Sin", "Softplus", "Tanh"])
def test_functions_are_emulated_to_the_ulp(op: str, measured: Measured) -> None:
    model = build(f"g (bfloat16[n] x) => (bfloat16[n] y) {{ y = {op} (x) }}", opset=22)
    x = finite(BF16)
    if op == "Exp":
        # OpenVINO gives infinity from 88.5 on, where the result is still finite.
        x = x[x.astype(np.float32) <= 88]
    off = of_one(*both(model, "openvino", x=x)) * 2**7
    measured(f"openvino bfloat16 {op}: {off:.2g} ulp of max(1, |y|) from the emulation")
    assert off <= 1


@pytest.mark.parametrize("k", [16, 64, 256])
def test_matmul_is_emulated_to_the_ulp(k: int, measured: Measured) -> None:
    text = f"g (bfloat16[64, {k}] a, bfloat16[{k}, 48] b) => (bfloat16[64, 48] y) {{ y = MatMul (a, b) }}"
    a, b = normal(64, k).astype(BF16), normal(k, 48, seed=1).astype(BF16)
    off = ulps(*both(build(text), "openvino", {HINT: "bf16"}, a=a, b=b))
    measured(f"openvino bfloat16 MatMul, K = {k}: {off} ulp from the emulation")
    assert off <= 1


def test_conv_is_emulated_to_the_ulp(measured: Measured) -> None:
    model = build(
        "g (bfloat16[1, 16, 16, 16] x, bfloat16[24, 16, 3, 3] w) => (bfloat16[1, 24, h, v] y)"
        "{ y = Conv (x, w) }",
        opset=22,
    )
    x, w = normal(1, 16, 16, 16).astype(BF16), normal(24, 16, 3, 3, seed=1).astype(BF16)
    off = of_range(*both(model, "openvino", {HINT: "bf16"}, x=x, w=w))
    measured(f"openvino bfloat16 Conv, K = 144: {off:.1e} of the range from the emulation")
    # One ulp of the largest element.
    assert off <= 2**-8


def test_attention_block(measured: Measured) -> None:
    feed = attention_feed(BF16)
    off = of_range(*both(attention("bfloat16"), "openvino", {HINT: "bf16"}, **feed))
    measured(f"openvino bfloat16 attention block: {off:.1e} of the range from the emulation")
    assert off <= 1e-2


def test_transformer_block(measured: Measured) -> None:
    original = ir.load(models.build("decoder", layers=1))
    feed = models.feeds("decoder")[0]
    converted = mpgraph.convert(original, "mixed_bfloat16", target="openvino").model
    assert any(
        value.dtype == ir.DataType.BFLOAT16 for value in converted.graph.initializers.values()
    )
    wanted = run(create_session(original), feed)["logits"]
    real = run(mpgraph.session(converted, target="openvino", settings={HINT: "bf16"}), feed)[
        "logits"
    ]
    off, foretold = (
        of_range(real, wanted),
        of_range(emulate(converted, feed, "openvino")["logits"], wanted),
    )
    measured(
        f"openvino decoder block, mixed_bfloat16, logits: {off:.1e} of the range from the original,"
        f" {foretold:.1e} by the emulation"
    )
    assert off <= 3e-2


def test_a_float32_model_is_computed_in_float32_unless_bfloat16_is_asked_for() -> None:
    model = build("g (float[64, 64] a, float[64, 48] b) => (float[64, 48] y) { y = MatMul (a, b) }")
    a, b = normal(64, 64), normal(64, 48, seed=1)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    rounded = a.astype(BF16).astype(np.float64) @ b.astype(BF16).astype(np.float64)
    assert of_range(both(model, "openvino", a=a, b=b)[0], exact) <= 1e-6
    low = both(model, "openvino", {HINT: "bf16"}, a=a, b=b)[0]
    assert of_range(low, rounded) <= 1e-6
    assert of_range(low, exact) > 1e-4
