"""Convolutions in float16 sums beside numpy, and beside onnxruntime where nothing rounds."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpgraph import ir
from mpgraph.errors import VerificationError
from mpgraph.runtime import create_session, emulated, run
from mpgraph.runtime.survival import emulated_session
from mpgraph.targets import Arithmetic
from tests.runtime.builders import build

Array = np.ndarray[Any, Any]
F16 = np.float16
SUMS = Arithmetic(accumulator=ir.DataType.FLOAT16)


def emulate(model: ir.Model, **feed: Array) -> Array:
    return run(emulated_session(emulated(model, SUMS)), feed)["y"]


def summed(x: Array, w: Array, group: int, bias: Array) -> Array:
    """A convolution without pads that rounds every product and sum, in the order of WebGPU."""
    count, each, high, wide = w.shape
    extents = x.shape[2] - high + 1, x.shape[3] - wide + 1
    places, channels = list(product(range(high), range(wide))), range(each)
    order = (
        [(c, i, j) for (i, j), c in product(places, channels)]
        if group == 1
        else [(c, i, j) for c, (i, j) in product(channels, places)]
    )
    result = np.zeros((x.shape[0], count, *extents), F16)
    for m in range(count):
        first = m // (count // group) * each
        for c, i, j in order:
            part = x[:, first + c, i : i + extents[0], j : j + extents[1]]
            result[:, m] = result[:, m] + part * w[m, c, i, j]
    return result + bias[:, None, None]


@pytest.mark.parametrize("group", [1, 2, 4])
def test_every_term_is_rounded(group: int) -> None:
    generator = np.random.default_rng(group)
    x = generator.standard_normal((2, 4, 7, 6)).astype(F16)
    w = generator.standard_normal((8, 4 // group, 3, 2)).astype(F16)
    b = generator.standard_normal(8).astype(F16)
    model = build(
        f"g (float16[2, 4, 7, 6] x) => (float16[2, 8, 5, 5] y) {{ y = Conv<group = {group}> (x, w, b) }}",
        w=w,
        b=b,
    )
    np.testing.assert_array_equal(emulate(model, x=x), summed(x, w, group, b))


@st.composite
def attributes(draw: st.DrawFn) -> tuple[int, int, str]:
    """The rank, the groups, and the other attributes as text."""
    rank = draw(st.integers(1, 3))

    def some(low: int, high: int, count: int) -> list[int]:
        return [draw(st.integers(low, high)) for _ in range(count)]

    parts = [f"strides = {some(1, 3, rank)}"]
    mode = draw(st.sampled_from(["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"]))
    if mode == "NOTSET":
        parts += [f"pads = {some(0, 2, 2 * rank)}", f"dilations = {some(1, 2, rank)}"]
    else:
        parts.append(f'auto_pad = "{mode}"')
    return rank, draw(st.sampled_from([1, 2])), ", ".join(parts)


@settings(max_examples=40)
@given(attributes(), st.integers(0, 100))
def test_small_integers_give_what_one_convolution_gives(
    chosen: tuple[int, int, str], seed: int
) -> None:
    rank, group, text = chosen
    generator = np.random.default_rng(seed)
    extents = [int(extent) for extent in generator.integers(5, 9, rank)]
    kernel = [int(size) for size in generator.integers(1, 4, rank)]
    x = generator.integers(-3, 4, (1, 4, *extents))
    w = generator.integers(-3, 4, (2, 4 // group, *kernel))

    def model(dtype: str, weights: Array) -> ir.Model:
        free = ", ".join(f"d{axis}" for axis in range(rank + 2))
        return build(
            f"g ({dtype}[1, 4, {', '.join(f'n{axis}' for axis in range(rank))}] x) => ({dtype}[{free}] y)"
            f"{{ y = Conv<group = {group}, {text}> (x, w) }}",
            w=weights,
        )

    wanted = run(create_session(model("float", w.astype("f"))), {"x": x.astype("f")})["y"]
    np.testing.assert_array_equal(emulate(model("float16", w.astype(F16)), x=x.astype(F16)), wanted)


def test_weights_of_unknown_extents_are_refused() -> None:
    model = build(
        "g (float16[1, 2, 5] x, float16[m, c, k] w) => (float16[1, m, n] y) { y = Conv (x, w) }"
    )
    with pytest.raises(VerificationError, match="extents of its weights 'w' are not known"):
        emulated(model, SUMS)
