"""Functions in float16 steps beside the same steps in numpy, and beside exact values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.runtime import emulated, run
from mpgraph.runtime.stepwise.functions import FUNCTIONS
from mpgraph.runtime.survival import emulated_session
from mpgraph.targets import Arithmetic, get_target
from tests.runtime.builders import build

Array = np.ndarray[Any, Any]
F16 = np.float16
FINITE = np.arange(2**16, dtype=np.uint16).view(F16)
FINITE = FINITE[np.isfinite(FINITE)]


def emulate(op: str, x: Array) -> Array:
    model = build(f"g (float16[n] x) => (float16[n] y) {{ y = {op} (x) }}", opset=20)
    arithmetic = Arithmetic(stepwise=frozenset(FUNCTIONS))
    return run(emulated_session(emulated(model, arithmetic)), {"x": x})["y"]


def exp(x: Array) -> Array:
    power = np.exp2((x * F16(np.log2(np.e))).astype(np.float64))
    # By way of float32, in which the operator itself computes.
    return power.astype(np.float32).astype(F16)


def log(x: Array) -> Array:
    return np.log2(x.astype(np.float64)).astype(F16) * F16(np.log(2))


def sigmoid(x: Array) -> Array:
    return F16(1) / (F16(1) + exp(-x))


def softplus(x: Array) -> Array:
    return np.maximum(x, F16(0)) + log(F16(1) + exp(-np.abs(x)))


def tanh(x: Array) -> Array:
    power = exp(F16(-2) * np.abs(x))
    return np.sign(x) * ((F16(1) - power) / (F16(1) + power))


def mish(x: Array) -> Array:
    return x * tanh(softplus(x))


@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("Exp", exp),
        ("Log", log),
        ("Mish", mish),
        ("Sigmoid", sigmoid),
        ("Softplus", softplus),
        ("Tanh", tanh),
    ],
)
def test_every_step_rounds(op: str, function: Callable[[Array], Array]) -> None:
    x = FINITE[FINITE > 0] if op == "Log" else FINITE
    with np.errstate(all="ignore"):
        wanted = function(x)
    np.testing.assert_array_equal(emulate(op, x), wanted)


def test_erf_is_that_of_the_formula() -> None:
    x = FINITE[np.abs(FINITE) < 6]
    scaled = 1 / (1 + 0.3275911 * np.abs(x.astype(np.float64)))
    terms = np.polyval(
        [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592, 0], scaled
    )
    wanted = np.sign(x) * (1 - terms * np.exp(-(x.astype(np.float64) ** 2)))
    assert np.abs(emulate("Erf", x) - wanted).max() < 6 * np.finfo(F16).eps


def test_webgpu_names_operators_that_have_steps() -> None:
    assert get_target("webgpu").arithmetic.stepwise == FUNCTIONS.keys()
    assert get_target("cuda").arithmetic.rounds_once
    assert get_target("webgpu").arithmetic.accumulator == ir.DataType.FLOAT16
