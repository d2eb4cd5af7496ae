"""Models with hazards in constants and attributes, and close relatives without."""

from __future__ import annotations

import numpy as np

from tests.analysis.hazard_models import BF16, LARGEST, Seen, scalar, unary

ADD, MUL = unary("y = Add (x, c)"), unary("y = Mul (x, c)")
SMALL = np.array([1, 1e-9], np.float32)

CASES = [
    # rule, kind, value, models that have it, models that do not
    (
        "constant_overflow",
        "constant-overflow",
        "c",
        [
            (ADD, {"c": scalar(-70000)}),
            (ADD, {"c": np.array([1, 1e6], np.float32)}),
            (ADD, {"c": np.array([np.inf, 1e6], np.float32)}),
            (unary("c = Constant <value_float = 1e30> () y = Mul (x, c)"), {}),
        ],
        [
            (ADD, {"c": scalar(65504)}),
            (ADD, {"c": scalar(-np.inf)}),
            (ADD, {"c": scalar(1e6), **BF16}),
            ("g (int64[2] x) => (int64[2] y) { y = Add (x, c) }", {"c": np.array([10**6])}),
        ],
    ),
    (
        "constant_underflow",
        "constant-underflow",
        "c",
        [
            (ADD, {"c": scalar(1e-8)}),
            (ADD, {"c": scalar(1.5e-6)}),
            (MUL, {"c": np.array([1e-6, 1e-7], np.float32)}),
        ],
        [
            (ADD, {"c": scalar(1e-3)}),
            (ADD, {"c": scalar(2.0**-20)}),
            (ADD, {"c": scalar(0)}),
            (MUL, {"c": np.array([1.0, 1e-9], np.float32)}),
            (ADD, {"c": scalar(1e-8), **BF16}),
        ],
    ),
    (
        "attribute_overflow",
        "attribute-overflow",
        "y",
        [
            (unary("y = Elu <alpha = 1e5> (x)"), {}),
            (unary("y = LeakyRelu <alpha = -1e5> (x)"), {}),
            ("g (float[2,2] x) => (float[2,2] y) { y = Gemm <alpha = 1e5> (x, x) }", {}),
            ("g (int64[1] n) => (float[k] y) { y = ConstantOfShape <value = float[1] {-1e9}> (n) }", {}),
            ("g (int64[1] n) => (float[1] y) { y = Cast <to = 1> (c) }", {"c": np.array([-(2**40)])}),
            (
                "g (int64[1] n) => (float[k] y) { f = ConstantOfShape <value = int64[1] {-1000000}> (n) "
                "r = Reshape (f, s) y = Cast <to = 1> (r) }",
                {"s": np.array([-1])},
            ),
        ],
        [
            (unary("y = Elu <alpha = 1e4> (x)"), {}),
            (unary("y = Elu <alpha = 1e5> (x)"), BF16),
            (unary("y = HardSigmoid <alpha = 1e5> (x)"), {}),
            ("g (int64[1] n) => (int64[k] y) { y = ConstantOfShape <value = int64[1] {-1000000}> (n) }", {}),
            ("g (int64[2] n) => (float[2] y) { y = Cast <to = 1> (n) }", {}),
        ],
    ),
    (
        "attribute_underflow",
        "attribute-underflow",
        "y",
        [
            ("g (float[2,2] x) => (float[2,2] y) { y = Gemm <alpha = 1e-9> (x, x) }", {}),
            ("g (int64[1] n) => (float[k] y) { y = ConstantOfShape <value = float[1] {1e-9}> (n) }", {}),
        ],
        [
            ("g (float[2,2] x) => (float[2,2] y) { y = Gemm <alpha = 1e-3> (x, x) }", {}),
            ("g (float[2,2] x) => (float[2,2] y) { y = Gemm <alpha = 1e-9> (x, x) }", BF16),
            ("g (float[2,2] x) => (float[2,2] y) { y = Gemm <alpha = 0.0> (x, x) }", {}),
            (
                "g (float[2,2] x) => (float[2,2] y) { y = LayerNormalization <epsilon = 1e-12> (x, c) }",
                {"c": np.ones(2, np.float32)},
            ),
        ],
    ),
    (
        "carried_overflow",
        "carried-overflow",
        "m",
        [
            (unary("m = Mul (x, c) y = Softmax (m)"), {"c": scalar(-LARGEST)}),
            (
                "g (bool[2] b, float[2] x) => (float[2] y) "
                "{ n = Where (b, x, c) m = Reshape (n, s) y = Softmax (m) }",
                {"c": scalar(-1e9), "s": np.array([2])},
            ),
            (
                "g (bool b, float[2] x) => (float[2] y) { m = If (b) < "
                "then_branch = t () => (float[2] p) { p = Add (x, c) }, "
                "else_branch = e () => (float[2] q) { q = Neg (x) } > y = Softmax (m) }",
                {"c": scalar(-1e9)},
            ),
            (
                unary("f = ConstantOfShape <value = float[1] {-1e9}> (s) m = Add (x, f) y = Softmax (m)"),
                {"s": np.array([2])},
            ),
            (unary("e = Elu <alpha = 1e6> (x) m = Neg (e) y = Softmax (m)"), {}),
            (unary("q = Div (x, d) m = Neg (q) y = Softmax (m)"), {"d": SMALL}),
            (unary("r = Pow (d, e) q = Mul (x, r) m = Neg (q) y = Softmax (m)"), {"d": SMALL, "e": scalar(-0.5)}),
            (
                "g (bool[2] b) => (float[2] y) { t = Neg (q) u = Neg (t) w = Where (b, p, u) m = Mul (w, e) y = Softmax (m) }",
                {"p": scalar(1e5), "q": scalar(1e38), "e": scalar(0.1)},
            ),
        ],
        [
            (unary("q = Div (x, d) m = Neg (q) y = Softmax (m)"), {"d": SMALL, "measured": {"q": Seen(amax=9)}}),
            (unary("q = Div (d, x) m = Neg (q) y = Softmax (m)"), {"d": SMALL}),
            (unary("e = Elu <alpha = 1e4> (x) m = Neg (e) y = Softmax (m)"), {}),
            (unary("m = Mul (x, c) y = Softmax (m)"), {"c": scalar(-30000)}),
            (unary("s = Softmax (c) m = Mul (x, s) y = Neg (m)"), {"c": scalar([-1e9, 0.0])}),
            (unary("n = Mul (c, d) m = Add (x, n) y = Neg (m)"), {"c": scalar(1e5), "d": scalar(0.1)}),
        ],
    ),
    (
        "constant_small_divisors",
        "constant-small-divisor",
        "v",
        [
            (unary("v = Identity (d) y = Div (x, v)"), {"d": SMALL}),
            (unary("v = Mul (x, d) y = Div (v, d)"), {"d": SMALL}),
            (unary("v = Mul (x, d) r = Reciprocal (d) y = Mul (r, v)"), {"d": SMALL}),
            (unary("v = Reshape (d, s) r = Sqrt (v) y = Mul (x, r)"), {"d": SMALL, "s": np.array([2])}),
            (unary("r = Sqrt (d) v = Neg (r) y = Div (x, v)"), {"d": SMALL}),
            (unary("v = Neg (d) r = Pow (v, e) y = Mul (x, r)"), {"d": SMALL, "e": scalar(-0.5)}),
            (unary("a = Abs (x) v = Add (a, e) y = Div (x, v)"), {"e": scalar(1e-8)}),
            (unary("a = Abs (x) v = Max (a, e) y = Div (x, v)"), {"e": scalar(1e-12)}),
            (
                unary("a = Abs (x) f = ConstantOfShape <value = float[1] {1e-8}> (s) v = Add (a, f) y = Div (x, v)"),
                {"s": np.array([2])},
            ),
            (unary("a = Abs (x) v = Add (a, e) y = Div (x, v)"), {"e": scalar(1e-8), "measured": {"v": Seen(amin_nonzero=1e-7)}}),
            (unary("a = Abs (x) v = Clip <min = 1e-12> (a) y = Div (x, v)"), {"opset": 10}),
        ],
        [
            (unary("v = Identity (d) y = Div (x, v)"), {"d": np.array([1, 1e-3], np.float32)}),
            (unary("v = Identity (d) y = Div (x, v)"), {"d": SMALL, **BF16}),
            (unary("a = Abs (x) g = Add (a, e) v = Sqrt (g) y = Div (x, v)"), {"e": scalar(1e-7)}),
            (unary("v = Identity (d) y = Mul (x, v)"), {"d": SMALL}),
            (unary("v = Identity (d) y = Div (v, x)"), {"d": SMALL}),
            (unary("v = Add (x, d) y = Div (x, v)"), {"d": SMALL}),
            (unary("v = Identity (d) y = Pow (v, e)"), {"d": SMALL, "e": scalar(2)}),
            (unary("v = Abs (x) a = Add (v, e) y = Div (x, a)"), {"e": scalar(1e-8)}),
            (unary("a = Abs (x) v = Add (a, e) y = Div (x, v)"), {"e": scalar(1e-3)}),
            (unary("a = Abs (x) v = Add (a, e) y = Div (x, v)"), {"e": scalar(1e-8), "measured": {"v": Seen(amin_nonzero=0.1)}}),
        ],
    ),
]  # fmt: skip
