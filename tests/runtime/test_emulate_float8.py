from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from mpgraph import ir
from mpgraph.runtime.compare import compare_models
from mpgraph.runtime.emulate import emulated
from mpgraph.runtime.sessions import run
from mpgraph.runtime.survival import emulated_session
from tests.runtime.builders import build

Array = np.ndarray[Any, Any]
FLOAT8 = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"]
NUMBERS = {
    "float8_e4m3fn": ir.DataType.FLOAT8E4M3FN,
    "float8_e4m3fnuz": ir.DataType.FLOAT8E4M3FNUZ,
    "float8_e5m2": ir.DataType.FLOAT8E5M2,
    "float8_e5m2fnuz": ir.DataType.FLOAT8E5M2FNUZ,
}


def emulate(model: ir.Model, **feed: Array) -> dict[str, Any]:
    return run(emulated_session(emulated(model)), feed)


def float32_around(name: str) -> Array:
    """Every value, every midpoint of two, what is too large, and the float32 beside each."""
    values = np.arange(256, dtype=np.uint8).view(np.dtype(name)).astype(np.float32)
    exact = np.unique(values[np.isfinite(values)]).astype(np.float64)
    middle = ((exact[1:] + exact[:-1]) / 2).astype(np.float32)
    largest = np.float32(exact[-1])
    beyond = largest * np.array([1.02, 1.0357, 1.07, 1.5, 2, 1e9, -1.02, -2, -1e9], np.float32)
    points = np.concatenate([values, middle, beyond, np.array([np.inf, -np.inf], np.float32)])
    up, down = (np.nextafter(points, np.float32(sign * np.inf)) for sign in (1, -1))
    return np.concatenate([points, up, down])


def rounded(x: Array, name: str, saturate: bool) -> Array:
    """What ml_dtypes rounds to; with saturate, what is beyond its range is the largest value."""
    kind = np.dtype(name)
    with np.errstate(all="ignore"):
        plain = x.astype(kind).astype(np.float32)
    if not saturate:
        return plain
    lost = ~np.isfinite(plain) & ~np.isnan(x)
    return np.where(lost, np.copysign(np.float32(ml_dtypes.finfo(kind).max), x), plain)


@pytest.mark.parametrize("saturate", [0, 1])
@pytest.mark.parametrize("name", FLOAT8)
def test_casts_round_like_ml_dtypes_bit_for_bit(name: str, saturate: int) -> None:
    model = build(
        "g (float[n] x) => (float[n] y) {"
        f" c = Cast<to = {int(NUMBERS[name])}, saturate = {saturate}> (x) y = Cast<to = 1> (c) }}",
        opset=21,
    )
    x = float32_around(name)
    got, wanted = emulate(model, x=x)["y"], rounded(x, name, bool(saturate))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
    there = ~np.isnan(wanted)
    np.testing.assert_array_equal(got[there].view(np.uint32), wanted[there].view(np.uint32))


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_quantize_move_and_dequantize(name: str) -> None:
    kind = np.dtype(name)
    model = build(
        "g (float[2,n] x) => (float[n,2] y, float16[m,n] z) { q = QuantizeLinear (x, s, zero)"
        " t = Transpose (q) y = DequantizeLinear (t, s, zero)"
        " u = Concat<axis = 0> (q, q) z = DequantizeLinear (u, h, zero) }",
        opset=21,
        s=np.array(0.5, np.float32),
        h=np.array(0.5, np.float16),
        zero=np.array(0, kind),
    )
    x = np.array([[0.1, 500, 1e9, -3], [1e-4, -1e9, 7.7, 0.03]], np.float32)
    wanted = rounded(x / np.float32(0.5), name, saturate=True) * np.float32(0.5)
    got = emulate(model, x=x)
    np.testing.assert_array_equal(got["y"], wanted.T)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(got["z"], np.concatenate([wanted] * 2).astype(np.float16))


def test_weights_of_float8_are_read_as_they_are() -> None:
    weight = np.array([[1, -2.5], [448, 2**-9]], ml_dtypes.float8_e4m3fn)
    model = build(
        "g (float[n,2] x) => (float[n,2] y) { w = DequantizeLinear (q, s) y = MatMul (x, w) }",
        opset=21,
        q=weight,
        s=np.array(2, np.float32),
    )
    emulation = emulated(model)
    assert emulation.graph.initializers["q"].dtype == ir.DataType.FLOAT8E4M3FN
    x = np.eye(2, dtype=np.float32)
    np.testing.assert_array_equal(emulate(model, x=x)["y"], weight.astype(np.float32) * 2)


def test_branches_that_hand_out_float8() -> None:
    model = build(
        "g (bool c, float[n] x) => (float[n] y) { a = Cast<to = 17> (x) b = If (c) <"
        " then_branch = t () => (float8e4m3fn[n] ty) { ty = Identity (a) },"
        " else_branch = e () => (float8e4m3fn[n] ey) { d = Neg (x) ey = Cast<to = 17> (d) }"
        " > y = DequantizeLinear (b, s) }",
        opset=21,
        s=np.array(1, np.float32),
    )
    x = np.array([0.1, 3.3, 1000], np.float32)
    half = rounded(x, "float8_e4m3fn", saturate=True)
    np.testing.assert_array_equal(emulate(model, c=np.array(True), x=x)["y"], half)
    np.testing.assert_array_equal(emulate(model, c=np.array(False), x=x)["y"], -half)


def test_a_comparison_names_the_layer_in_float8() -> None:
    wide = build("g (float[n] x) => (float[n] y) { a = Abs (x) c = Identity (a) y = Sqrt (c) }", 21)
    low = build(
        "g (float[n] x) => (float[n] y) {"
        " a = Abs (x) c = Cast<to = 17> (a) d = Cast<to = 1> (c) y = Sqrt (d) }",
        21,
    )
    x = np.linspace(0.1, 3, 40).astype(np.float32)
    got = compare_models(wide, low, {"x": x}, emulate=True, per_layer=True)
    first = got.first_divergence(1e-2)
    assert first is not None
    assert (first.name, first.dtype_a, first.dtype_b) == ("c", "float32", "float8e4m3fn")
