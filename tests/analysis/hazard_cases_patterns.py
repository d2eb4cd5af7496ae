"""Models with hazards in what they compute, and close relatives without."""

from __future__ import annotations

import numpy as np

from tests.analysis.hazard_models import BF16, Seen, scalar, unary

CASES = [
    # rule, kind, value, models that have it, models that do not
    (
        "integers_from_casts",
        "integer-path",
        "f",
        [
            (
                "g (int64[2] i) => (float[2] y) { f = Cast <to = 1> (i) y = Sin (f) }",
                {},
            ),
            (
                "g (int64[2] i) => (float[2] y) { r = Cast <to = 1> (i) f = Add (r, c) y = Sin (f) }",
                {"c": scalar(1)},
            ),
            (
                "g (float n) => (float[k] y) { f = Range (z, n, o) y = Sin (f) }",
                {"z": scalar(0), "o": scalar(1)},
            ),
        ],
        [
            ("g (bool[2] i) => (float[2] y) { f = Cast <to = 1> (i) y = Neg (f) }", {}),
            ("g (uint8[2] i) => (float[2] y) { f = Cast <to = 1> (i) y = Neg (f) }", {}),
            (
                "g (int64[2] i) => (float[2] y) { r = Cast <to = 1> (i) f = Mul (r, c) y = Neg (f) }",
                {"c": scalar(0.125)},
            ),
        ],
    ),
    (
        "integers_to_casts",
        "rounded-to-integer",
        "r",
        [
            ("g (float[2] x) => (int64[2] y) { r = Neg (x) y = Cast <to = 7> (r) }", {}),
            (unary("r = Neg (x) y = Floor (r)"), {}),
        ],
        [
            ("g (float[2] x) => (bool[2] y) { r = Neg (x) y = Cast <to = 9> (r) }", {}),
            ("g (float[2] x) => (double[2] y) { r = Neg (x) y = Cast <to = 11> (r) }", {}),
            (unary("r = Neg (x) y = Abs (r)"), {}),
        ],
    ),
    (
        "ill_conditioned",
        "ill-conditioned",
        "v",
        [
            (unary("v = Neg (x) y = Sin (v)"), {}),
            (unary("v = Neg (x) y = Exp (v)"), {}),
            (unary("v = Neg (x) y = Log (v)"), {}),
            (unary("v = Neg (x) y = Cos (v)"), {"measured": {"v": Seen(amax=1000)}}),
            (unary("v = Neg (x) y = Log (v)"), {"measured": {"v": Seen(amin_nonzero=1e-7)}}),
        ],
        [
            (unary("v = Neg (x) y = Tanh (v)"), {}),
            (unary("v = Neg (x) y = Sin (v)"), {"measured": {"v": Seen(amax=3)}}),
            (unary("v = Neg (x) y = Exp (v)"), {"measured": {"v": Seen(amax=10)}}),
            (unary("v = Neg (x) y = Log (v)"), {"measured": {"v": Seen(amin_nonzero=0.01)}}),
        ],
    ),
    (
        "long_sums",
        "long-sum",
        "s",
        [
            ("g (float[2,8192] x) => (float[2] y) { s = ReduceSum <keepdims = 0> (x, a) y = Neg (s) }",
             {"a": np.array([1])}),
            ("g (float[b,8192] x) => (float[b,1] y) { s = ReduceSum (x, a) y = Neg (s) }",
             {"a": np.array([1])}),
            ("g (float[b,n] x) => (float[b,1] y) { s = ReduceSum (x, a) y = Neg (s) }",
             {"a": np.array([1])}),
            ("g (float[8192] x) => (float[8192] y) { s = CumSum (x, a) y = Neg (s) }",
             {"a": np.array(0)}),
        ],
        [
            ("g (float[2,64] x) => (float[2] y) { s = ReduceSum <keepdims = 0> (x, a) y = Neg (s) }",
             {"a": np.array([1])}),
            ("g (float[b,64] x) => (float[b,1] y) { s = ReduceSum (x, a) y = Neg (s) }",
             {"a": np.array([1])}),
            ("g (float[2,8192] x) => (float[2,1] y) { s = ReduceMean (x, a) y = Neg (s) }",
             {"a": np.array([1])}),
            ("g (float[2,8192] x) => (float[2] y) { s = ReduceSum <keepdims = 0> (x, a) y = Neg (s) }",
             {"a": np.array([1]), "measured": {"s": Seen(amax=50)}}),
            ("g (float[2,8192] x) => (float[2] y) { s = ReduceSum <keepdims = 0> (x, a) y = Neg (s) }",
             {"a": np.array([1]), **BF16}),
        ],
    ),
    (
        "exponential_sums",
        "exponential-sum",
        "e",
        [
            ("g (float[2,4] x) => (float[2,4] y) "
             "{ e = Exp (x) s = ReduceSum (e, a) y = Div (e, s) }", {"a": np.array([1])}),
            ("g (float[2,4] x) => (float[2,1] y) "
             "{ e = Exp (x) r = Mul (e, e) s = ReduceSum (r, a) y = Log (s) }",
             {"a": np.array([1])}),
        ],
        [
            (unary("e = Exp (x) y = Neg (e)"), {}),
            ("g (float[2,4] x) => (float[2,1] y) { e = Exp (x) y = ReduceMax (e, a) }",
             {"a": np.array([1])}),
        ],
    ),
    (
        "decomposed_normalizations",
        "decomposed-normalization",
        "d",
        [
            ("g (float[2,4] x) => (float[2,4] y) { m = ReduceMean (x, a) c = Sub (x, m) "
             "q = Mul (c, c) v = ReduceMean (q, a) w = Add (v, e) d = Sqrt (w) y = Div (c, d) }",
             {"a": np.array([1]), "e": scalar(1e-5)}),
            ("g (float[2,4] x) => (float[2,4] y) { q = Pow (x, t) v = ReduceMean (q, a) "
             "w = Add (e, v) d = Sqrt (w) r = Reciprocal (d) y = Mul (x, r) }",
             {"a": np.array([1]), "e": scalar(1e-6), "t": scalar(2)}),
            ("g (float[2,4] x) => (float[2,4] y) { q = Mul (x, x) v = ReduceSum (q, a) "
             "d = Pow (v, h) y = Div (x, d) }", {"a": np.array([1]), "h": scalar(0.5)}),
        ],
        [
            (unary("w = Add (x, e) d = Sqrt (w) y = Div (x, d)"), {"e": scalar(1e-5)}),
            ("g (float[2,4] x) => (float[2,4] y) { v = ReduceMean (x, a) w = Add (v, e) "
             "d = Sqrt (w) y = Div (x, d) }", {"a": np.array([1]), "e": scalar(3)}),
            ("g (float[2,4] x) => (float[2,4] y) { v = ReduceMean (x, a) d = Pow (v, t) "
             "y = Div (x, d) }", {"a": np.array([1]), "t": scalar(2)}),
        ],
    ),
]  # fmt: skip
