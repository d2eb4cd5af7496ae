"""Models with hazards that data shows, and close relatives without."""

from __future__ import annotations

from tests.analysis.hazard_models import BF16, Seen, unary

CASES = [
    # rule, kind, value, models that have it, models that do not
    (
        "measured_overflow",
        "activation-overflow",
        "v",
        [(unary("v = Neg (x) y = Abs (v)"), {"measured": {"v": Seen(amax=40000)}})],
        [
            (unary("v = Neg (x) y = Abs (v)"), {"measured": {"v": Seen(amax=30000)}}),
            (unary("v = Neg (x) y = Abs (v)"), {"measured": {"v": Seen(amax=1e9)}, **BF16}),
            (unary("v = Neg (x) y = Abs (v)"), {}),
        ],
    ),
    (
        "measured_underflow",
        "activation-underflow",
        "v",
        [(unary("v = Neg (x) y = Abs (v)"), {"measured": {"v": Seen(amax=1e-6)}})],
        [
            (unary("v = Neg (x) y = Abs (v)"), {"measured": {"v": Seen(amax=1e-3)}}),
            (unary("v = Neg (x) y = Abs (v)"), {"measured": {"v": Seen(amax=0)}}),
        ],
    ),
    (
        "measured_small_divisors",
        "small-divisor",
        "v",
        [
            (unary("v = Neg (x) y = Div (x, v)"), {"measured": {"v": Seen(amin_nonzero=1e-6)}}),
            (unary("v = Abs (x) y = Sqrt (v)"), {"measured": {"v": Seen(amin_nonzero=1e-6)}}),
        ],
        [
            (unary("v = Neg (x) y = Div (v, x)"), {"measured": {"v": Seen(amin_nonzero=1e-6)}}),
            (unary("v = Neg (x) y = Div (x, v)"), {"measured": {"v": Seen(amin_nonzero=0.1)}}),
        ],
    ),
    (
        "measured_integers",
        "measured-integer",
        "v",
        [
            (unary("v = Neg (x) y = Abs (v)"),
             {"measured": {"v": Seen(amax=5000, integer_valued=True)}}),
            (unary("v = Neg (x) y = Abs (v)"),
             {"measured": {"v": Seen(amax=300, integer_valued=True)}, **BF16}),
        ],
        [
            (unary("v = Neg (x) y = Abs (v)"),
             {"measured": {"v": Seen(amax=2048, integer_valued=True)}}),
            (unary("v = Neg (x) y = Abs (v)"), {"measured": {"v": Seen(amax=5000)}}),
        ],
    ),
]  # fmt: skip
