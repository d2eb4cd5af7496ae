"""One head of attention, every value of one dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from mpgraph import ir
from tests.providers.device import Array
from tests.runtime.builders import build

__all__ = ["attention", "attention_feed"]

_LENGTH, _WIDTH = 12, 32


def attention(dtype: str) -> ir.Model:
    """x [12, 32] and four weights [32, 32] -> y [12, 32], all of ``dtype``."""
    weights = ", ".join(f"{dtype}[{_WIDTH}, {_WIDTH}] {name}" for name in ("wq", "wk", "wv", "wo"))
    number = ir.parse_dtype(dtype).value
    return build(
        f"g ({dtype}[{_LENGTH}, {_WIDTH}] x, {weights}) => ({dtype}[{_LENGTH}, {_WIDTH}] y) {{"
        " q = MatMul (x, wq) k = MatMul (x, wk) v = MatMul (x, wv)"
        f" wide = Constant<value_float = {_WIDTH**-0.5}> () scale = Cast<to = {number}> (wide)"
        " t = Transpose<perm = [1, 0]> (k) scores = MatMul (q, t) scaled = Mul (scores, scale)"
        " p = Softmax<axis = -1> (scaled) mixed = MatMul (p, v) y = MatMul (mixed, wo) }"
    )


def attention_feed(dtype: np.dtype[Any]) -> dict[str, Array]:
    """Inputs of ``attention`` of one dtype, the weights scaled to keep the variance."""
    generator = np.random.default_rng(4)
    feed = {"x": generator.standard_normal((_LENGTH, _WIDTH)).astype(dtype)}
    for name in ("wq", "wk", "wv", "wo"):
        feed[name] = (generator.standard_normal((_WIDTH, _WIDTH)) * _WIDTH**-0.5).astype(dtype)
    return feed
