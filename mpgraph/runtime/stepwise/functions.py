"""Functions of one operand in the float16 steps of WebGPU.

The shaders of onnxruntime's WebGPU provider write Sigmoid, Softplus, Tanh, Mish, Erf and Gelu in
terms of exp and log, and Vulkan drivers compute those by base 2 with a product in float16. On
plugin 0.4.0 and Mesa 25 these steps give every bit of the results, up to one ulp of exp2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from mpgraph import ir
from mpgraph.runtime.stepwise.steps import Steps

__all__ = ["FUNCTIONS"]

Function: TypeAlias = Callable[[Steps, ir.Value], ir.Value]

# M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", formula 7.1.26.
_ERF_SCALE = 0.3275911
_ERF_TERMS = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)


def _exp(steps: Steps, x: ir.Value) -> ir.Value:
    scaled = steps.op("Mul", x, steps.number(math.log2(math.e)))
    return steps.op("Pow", steps.number(2), scaled)


def _log(steps: Steps, x: ir.Value) -> ir.Value:
    wide = steps.op("Cast", x, dtype=ir.DataType.FLOAT, to=int(ir.DataType.FLOAT))
    natural = steps.op("Log", wide, dtype=ir.DataType.FLOAT)
    base = steps.array(np.array(math.log(2), np.float32))
    binary = steps.op("Div", natural, base, dtype=ir.DataType.FLOAT)
    rounded = steps.op("Cast", binary, to=int(ir.DataType.FLOAT16))
    return steps.op("Mul", rounded, steps.number(math.log(2)))


def _sigmoid(steps: Steps, x: ir.Value) -> ir.Value:
    one = steps.number(1)
    return steps.op("Div", one, steps.op("Add", one, _exp(steps, steps.op("Neg", x))))


def _softplus(steps: Steps, x: ir.Value) -> ir.Value:
    power = _exp(steps, steps.op("Neg", steps.op("Abs", x)))
    tail = _log(steps, steps.op("Add", steps.number(1), power))
    return steps.op("Add", steps.op("Max", x, steps.number(0)), tail)


def _tanh(steps: Steps, x: ir.Value) -> ir.Value:
    one = steps.number(1)
    power = _exp(steps, steps.op("Mul", steps.number(-2), steps.op("Abs", x)))
    ratio = steps.op("Div", steps.op("Sub", one, power), steps.op("Add", one, power))
    return steps.op("Mul", steps.op("Sign", x), ratio)


def _mish(steps: Steps, x: ir.Value) -> ir.Value:
    return steps.op("Mul", x, _tanh(steps, _softplus(steps, x)))


def _erf(steps: Steps, x: ir.Value) -> ir.Value:
    one, size = steps.number(1), steps.op("Abs", x)
    scaled = steps.op("Mul", _toward_zero(steps, _ERF_SCALE), size)
    t = steps.op("Div", one, steps.op("Add", one, scaled))
    total = steps.op("Mul", _toward_zero(steps, _ERF_TERMS[0]), t)
    for term in _ERF_TERMS[1:]:
        total = steps.op("Mul", steps.op("Add", total, _toward_zero(steps, term)), t)
    power = _exp(steps, steps.op("Mul", steps.op("Neg", size), size))
    rest = steps.op("Sub", one, steps.op("Mul", total, power))
    return steps.op("Mul", steps.op("Sign", x), rest)


def _toward_zero(steps: Steps, number: float) -> ir.Value:
    """A constant as shader compilers round it: toward zero."""
    rounded = np.float16(number)
    if abs(float(rounded)) > abs(number):
        rounded = np.nextafter(rounded, np.float16(0))
    return steps.array(np.asarray(rounded))


FUNCTIONS: Mapping[str, Function] = {
    "Erf": _erf,
    "Exp": _exp,
    "Log": _log,
    "Mish": _mish,
    "Sigmoid": _sigmoid,
    "Softplus": _softplus,
    "Tanh": _tanh,
}
"""By operator; each takes where to write and the operand."""
