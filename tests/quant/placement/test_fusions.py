"""Element-wise nodes that stay float for the sake of the provider's own fusions."""

from __future__ import annotations

import numpy as np
import pytest

from tests.quant.placement.planning import carriers, forms, normal, planned
from tests.runtime.builders import build

FEEDS = [{"x": normal(8, 32)}]
CONSTANTS = {
    "w": normal(32, 32),
    "b": normal(32, seed=1),
    "gain": np.ones(32, np.float32),
    "half": np.array(0.5, np.float32),
    "one": np.array(1, np.float32),
    "root": np.array(np.sqrt(2), np.float32),
    "two": np.array(2, np.float32),
    "tiny": np.array(1e-5, np.float32),
}

RESIDUAL = """
    m = MatMul (x, w)
    k = MatMul (m, w)
    s = Add (m, k)
    n = LayerNormalization (s, gain)
    p = MatMul (s, w)
    q = MatMul (n, w)
    y = Sub (p, q)
"""
BIAS = """
    m = MatMul (x, w)
    s = Add (m, b)
    r = Relu (s)
    y = MatMul (r, w)
"""
GELU = """
    m = MatMul (x, w)
    d = Div (m, root)
    e = Erf (d)
    p = Add (e, one)
    q = Mul (m, p)
    h = Mul (q, half)
    y = MatMul (h, w)
"""
WRITTEN_OUT = """
    m = MatMul (x, w)
    s = Add (m, x)
    mean = ReduceMean <axes = [-1]> (s)
    d = Sub (s, mean)
    p = Pow (d, two)
    v = ReduceMean <axes = [-1]> (p)
    e = Add (v, tiny)
    r = Sqrt (e)
    n = Div (d, r)
    o = Mul (n, gain)
    t = Add (o, b)
    y = MatMul (t, w)
"""


def model(body, opset=17):
    used = {name: one for name, one in CONSTANTS.items() if f" {name})" in body}
    return build(f"g (float[8,32] x) => (float[8,32] y) {{ {body} }}", opset, **used)


@pytest.mark.parametrize(
    ("body", "computed"),
    [(RESIDUAL, "s"), (BIAS, "s"), (GELU, "pqhd"), (WRITTEN_OUT, "sdnot")],
)
def test_what_is_one_kernel_in_float_stays_so(body, computed):
    plan = planned(model(body), FEEDS, force=True)
    assert set(forms(plan).values()) == {"static"}
    assert not carriers(plan) & set(computed)


def test_a_sum_that_nothing_fuses_may_be_handed_on():
    body = """
        m = MatMul (x, w)
        k = MatMul (m, w)
        s = Add (m, k)
        y = MatMul (s, w)
    """
    assert carriers(planned(model(body), FEEDS, force=True)) == {"s"}
