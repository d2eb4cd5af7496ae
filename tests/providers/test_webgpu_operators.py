"""Float16 operators on WebGPU beside the emulation, and int4 weights beside exact arithmetic."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mpgraph
from mpgraph.runtime import run
from tests.providers.device import F16, Array, both, emulate, finite, of_one, of_range, ulps
from tests.runtime.builders import build

pytestmark = pytest.mark.webgpu

Measured = Callable[[str], None]


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(F16)


@pytest.mark.parametrize(
    "op", ["Abs", "Neg", "Floor", "Ceil", "Relu", "Sqrt", "Reciprocal", "LeakyRelu"]
)
def test_one_step_of_every_value_is_emulated_to_the_ulp(op: str, measured: Measured) -> None:
    model = build(f"g (float16[n] x) => (float16[n] y) {{ y = {op} (x) }}")
    off = ulps(*both(model, "webgpu", x=finite(F16)))
    measured(f"webgpu float16 {op}: {off} ulp from the emulation, every finite value")
    assert off <= 1


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Max", "Min"])
def test_arithmetic_is_emulated_to_the_ulp(op: str, measured: Measured) -> None:
    model = build(f"g (float16[n] a, float16[n] b) => (float16[n] y) {{ y = {op} (a, b) }}")
    generator = np.random.default_rng(1)
    a, b = (generator.permutation(finite(F16)) for _ in range(2))
    off = ulps(*both(model, "webgpu", a=a, b=b))
    measured(f"webgpu float16 {op}: {off} ulp from the emulation, every finite value")
    assert off <= 1


# In units of the ulp of float16 at 1. WebGPU computes these in several float16 steps, which the
# emulation takes one by one for the first group; Gelu, Elu and the others round once there.
@pytest.mark.parametrize("op", [
    "Erf", "Exp", "Log", "Mish", "Sigmoid", "Softplus", "Tanh",
    "Cos", "Elu", "Gelu", "HardSigmoid", "HardSwish", "Sin",
])  # fmt: skip
def test_functions_are_emulated_to_the_ulp(op: str, measured: Measured) -> None:
    model = build(f"g (float16[n] x) => (float16[n] y) {{ y = {op} (x) }}", opset=20)
    x = finite(F16)
    if op == "Log":
        x = x[x >= 0]
    with np.errstate(over="ignore"):
        off = of_one(*both(model, "webgpu", x=x)) / float(np.finfo(F16).eps)
    measured(f"webgpu float16 {op}: {off:.2f} ulp of max(1, |y|) from the emulation")
    assert off <= 1


@pytest.mark.parametrize("op", ["MatMul", "Gemm"])
@pytest.mark.parametrize("k", [16, 64, 256, 500])
def test_matrix_products_are_emulated(op: str, k: int, measured: Measured) -> None:
    text = (
        f"g (float16[64, {k}] a, float16[{k}, 48] b) => (float16[64, 48] y) {{ y = {op} (a, b) }}"
    )
    off = of_range(*both(build(text), "webgpu", a=normal(64, k), b=normal(k, 48, seed=1)))
    measured(f"webgpu float16 {op}, K = {k}: {off:.1e} of the range from the emulation")
    assert off <= 2e-3


@pytest.mark.parametrize(("channels", "kernel", "group"), [
    (3, 3, 1), (16, 1, 1), (16, 3, 16), (64, 1, 1), (16, 3, 4), (16, 3, 1), (28, 3, 1), (256, 1, 1),
])  # fmt: skip
def test_convolutions_are_emulated(
    channels: int, kernel: int, group: int, measured: Measured
) -> None:
    each = channels // group
    text = (
        f"g (float16[1, {channels}, 16, 16] x, float16[32, {each}, {kernel}, {kernel}] w)"
        f" => (float16[1, 32, h, v] y) {{ y = Conv<group = {group}> (x, w) }}"
    )
    x, w = normal(1, channels, 16, 16), normal(32, each, kernel, kernel, seed=1)
    off = of_range(*both(build(text), "webgpu", x=x, w=w))
    k = each * kernel * kernel
    measured(f"webgpu float16 Conv, K = {k}: {off:.1e} of the range from the emulation")
    assert off <= 2e-3


# In the NHWC layout, the provider's own default, 6, 9, 33 and 129 come out wrong.
@pytest.mark.parametrize("channels", [3, 4, 6, 9, 12, 33, 129])
def test_float32_convolutions_are_right_for_any_number_of_channels(channels: int) -> None:
    model = build(
        f"g (float[1, {channels}, 6, 6] x, float[8, {channels}, 3, 3] w) => (float[1, 8, 4, 4] y) {{ y = Conv (x, w) }}"
    )
    x, w = (
        array.astype(np.float32)
        for array in (normal(1, channels, 6, 6), normal(8, channels, 3, 3, seed=1))
    )
    assert of_range(*both(model, "webgpu", x=x, w=w)) <= 1e-6


@pytest.fixture
def software_adapter() -> None:
    if os.environ.get("ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER") != "1":
        pytest.skip("another adapter than software Vulkan may add up in another order")


@pytest.mark.usefixtures("software_adapter")
@pytest.mark.parametrize(("op", "attributes"), [("MatMul", ""), ("Gemm", "<alpha = 0.3>")])
def test_products_are_emulated_bit_for_bit(op: str, attributes: str) -> None:
    model = build(
        f"g (float16[64, 256] a, float16[256, 48] b) => (float16[64, 48] y) {{ y = {op}{attributes} (a, b) }}"
    )
    np.testing.assert_array_equal(
        *both(model, "webgpu", a=normal(64, 256), b=normal(256, 48, seed=1))
    )


@pytest.mark.usefixtures("software_adapter")
@pytest.mark.parametrize("group", [1, 4])
def test_convolutions_are_emulated_bit_for_bit(group: int) -> None:
    model = build(
        f"g (float16[1, 16, 12, 12] x, float16[8, {16 // group}, 3, 3] w, float16[8] b) => (float16[1, 8, h, v] y)"
        f"{{ y = Conv<group = {group}, pads = [1, 1, 1, 1], strides = [2, 1]> (x, w, b) }}"
    )
    feed = {"x": normal(1, 16, 12, 12), "w": normal(8, 16 // group, 3, 3, seed=1), "b": normal(8)}
    np.testing.assert_array_equal(*both(model, "webgpu", None, **feed))


@pytest.mark.usefixtures("software_adapter")
def test_partial_sums_overflow_on_webgpu_as_emulated_for_it() -> None:
    model = build(
        "g (float16[1, 64] a, float16[64, 1] b) => (float16[1, 1] y) { y = MatMul (a, b) }"
    )
    a = np.full((1, 64), 100, F16)
    b = np.repeat(np.array([100, -100], F16), 32)[:, None]
    real, foretold = both(model, "webgpu", a=a, b=b)
    assert np.isinf(real).all()
    assert np.isinf(foretold).all()
    assert (emulate(model, {"a": a, "b": b}, "cuda")["y"] == 0).all()


@pytest.mark.parametrize(("dtype", "name", "limit"), [
    pytest.param(np.float32, "float", 1e-6, id="float32"),
    pytest.param(np.float16, "float16", 2e-3, id="float16"),
])  # fmt: skip
def test_int4_weights(dtype: Any, name: str, limit: float, measured: Measured) -> None:
    k, n, block = 128, 32, 32
    generator = np.random.default_rng(2)
    packed = generator.integers(0, 256, (n, k // block, block // 2), dtype=np.uint8)
    scales = generator.uniform(0.01, 0.1, (n, k // block)).astype(dtype)
    a = generator.standard_normal((8, k)).astype(dtype)
    model = build(
        f"g ({name}[8, {k}] a, uint8[{n}, {k // block}, {block // 2}] q, {name}[{n}, {k // block}] s)"
        f" => ({name}[8, {n}] y)"
        f"{{ y = com.microsoft.MatMulNBits<K = {k}, N = {n}, bits = 4, block_size = {block}> (a, q, s) }}"
    )
    feed = {"a": a, "q": packed, "s": scales}
    real = run(mpgraph.session(model, target="webgpu", strict=True), feed)["y"]
    # Two weights in a byte, the first one in the low bits; 8 stands for zero.
    codes = np.stack([packed & 15, packed >> 4], axis=-1).reshape(n, k // block, block)
    weights = ((codes - 8.0) * scales[..., None].astype(np.float64)).reshape(n, k)
    off = of_range(real, a.astype(np.float64) @ weights.T)
    measured(
        f"webgpu {np.dtype(dtype).name} MatMulNBits, int4, K = {k}: {off:.1e} of the range from exact"
    )
    assert off <= limit
    assert of_range(real, emulate(model, feed, "webgpu")["y"]) <= limit
