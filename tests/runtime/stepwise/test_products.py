"""Matrix products in float16 sums beside the same sums in numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.runtime import emulated, run
from mpgraph.runtime.survival import emulated_session
from mpgraph.targets import Arithmetic
from tests.runtime.builders import build

Array = np.ndarray[Any, Any]
F16 = np.float16
SUMS = Arithmetic(accumulator=ir.DataType.FLOAT16)


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(F16)


def emulate(model: ir.Model, arithmetic: Arithmetic = SUMS, **feed: Array) -> Array:
    return run(emulated_session(emulated(model, arithmetic)), feed)["y"]


def summed(a: Array, b: Array) -> Array:
    """``a @ b`` where numpy rounds every product and every sum to float16, one term at a time."""
    total = np.zeros(np.matmul(a, b).shape, F16)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(a.shape[-1]):
            row = b[k] if b.ndim == 1 else b[..., k, :]
            column = a[..., k] if b.ndim == 1 or a.ndim == 1 else a[..., k, None]
            total = total + column * (row if b.ndim == 1 or a.ndim == 1 else row[..., None, :])
    return total


@pytest.mark.parametrize(("shape_a", "shape_b"), [
    ((5, 33), (33, 4)), ((33,), (33, 4)), ((2, 5, 33), (33,)), ((33,), (33,)),
    ((2, 1, 5, 33), (3, 33, 4)), ((33,), (2, 33, 4)), ((4, 1), (1, 3)),
])  # fmt: skip
def test_matmul(shape_a: Sequence[int], shape_b: Sequence[int]) -> None:
    a, b = normal(*shape_a), normal(*shape_b, seed=1)
    wanted = summed(a, b)
    result = f"float16{list(wanted.shape)}" if wanted.ndim else "float16"
    model = build(
        f"g (float16{list(shape_a)} a, float16{list(shape_b)} b) => ({result} y) {{ y = MatMul (a, b) }}"
    )
    np.testing.assert_array_equal(emulate(model, a=a, b=b), wanted)


@pytest.mark.parametrize("alpha", [1.0, 0.3])
@pytest.mark.parametrize("beta", [1.0, 0.7])
@pytest.mark.parametrize("transposed", [0, 1])
def test_gemm(alpha: float, beta: float, transposed: int) -> None:
    a, b, c = normal(6, 20), normal(20, 3, seed=1), normal(3, seed=2)
    shapes = ("[20, 6]", "[3, 20]") if transposed else ("[6, 20]", "[20, 3]")
    model = build(
        f"g (float16{shapes[0]} a, float16{shapes[1]} b, float16[3] c) => (float16[6, 3] y) {{ y ="
        f" Gemm<alpha = {alpha}, beta = {beta}, transA = {transposed}, transB = {transposed}> (a, b, c) }}"
    )
    wanted = F16(alpha) * summed(a, b) + F16(beta) * c
    feed = {"a": a.T.copy(), "b": b.T.copy()} if transposed else {"a": a, "b": b}
    np.testing.assert_array_equal(emulate(model, c=c, **feed), wanted)


def test_partial_sums_overflow_in_float16_alone() -> None:
    model = build(
        "g (float16[1, 64] a, float16[64, 1] b) => (float16[1, 1] y) { y = MatMul (a, b) }"
    )
    a = np.full((1, 64), 100, F16)
    b = np.repeat(np.array([100, -100], F16), 32)[:, None]
    assert np.isinf(emulate(model, a=a, b=b)).all()
    assert (emulate(model, Arithmetic(), a=a, b=b) == 0).all()


def test_a_sum_of_no_terms_is_zero() -> None:
    model = build("g (float16[2, k] a, float16[k, 3] b) => (float16[2, 3] y) { y = MatMul (a, b) }")
    got = emulate(model, a=np.zeros((2, 0), F16), b=np.zeros((0, 3), F16))
    np.testing.assert_array_equal(got, np.zeros((2, 3)))


def test_a_product_inside_a_branch() -> None:
    model = build(
        "g (float16[4, 40] a, float16[40, 2] b, bool c) => (float16[4, 2] y) { y = If (c) <"
        " then_branch = t () => (float16[4, 2] p) { p = MatMul (a, b) },"
        " else_branch = e () => (float16[4, 2] q) { m = MatMul (a, b) q = Neg (m) }> }"
    )
    a, b = normal(4, 40), normal(40, 2, seed=1)
    for condition, sign in ((True, 1), (False, -1)):
        got = emulate(model, a=a, b=b, c=np.array(condition))
        np.testing.assert_array_equal(got, sign * summed(a, b))


@pytest.mark.parametrize("dtype", ["float", "bfloat16"])
def test_products_of_other_dtypes_stay_one_operator(dtype: str) -> None:
    model = build(
        f"g ({dtype}[2, 3] a, {dtype}[3, 2] b) => ({dtype}[2, 2] y) {{ y = MatMul (a, b) }}"
    )
    assert "Loop" not in {node.op_type for node in ir.nodes(emulated(model, SUMS))}


def test_an_old_opset() -> None:
    model = build(
        "g (float16[4, 40] a, float16[40, 2] b) => (float16[4, 2] y) { y = MatMul (a, b) }", opset=9
    )
    a, b = normal(4, 40), normal(40, 2, seed=1)
    np.testing.assert_array_equal(emulate(model, a=a, b=b), summed(a, b))


def test_the_given_model_is_not_changed() -> None:
    model = build("g (float16[2, 3] a, float16[3, 2] b) => (float16[2, 2] y) { y = MatMul (a, b) }")
    before = ir.to_bytes(model)
    emulated(model, SUMS)
    assert ir.to_bytes(model) == before
