"""How much slower one model is than another, with an interval that holds the noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

__all__ = ["METHOD", "Ratio", "ratio_of", "student_quantile"]

Array: TypeAlias = np.ndarray[Any, Any]

METHOD = (
    "runs paired by round, the median log ratio of each set of sessions, Student's t over the sets"
)
"""How an interval is made, as a phrase."""

_GRID = 200_001


@dataclass(frozen=True, slots=True)
class Ratio:
    """The time of model ``b`` over the time of model ``a``.

    Attributes:
        a, b: The labels of the models.
        ratio: Above 1 where ``b`` is slower.
        low, high: The confidence interval of the ratio.
    """

    a: str
    b: str
    ratio: float
    low: float
    high: float

    @property
    def faster(self) -> str | None:
        """The label of the faster one; None where the interval holds 1."""
        if self.low > 1:
            return self.a
        return self.b if self.high < 1 else None


def ratio_of(a: str, b: str, times_a: Array, times_b: Array, confidence: float) -> Ratio:
    """The ratio of two models whose runs were interleaved.

    Sessions of one model differ lastingly (memory layout, placement of threads), and runs of one
    session are not independent. So each set of sessions gives one number, the median over its
    rounds of log(b / a), and the interval comes from how these numbers vary: Student's t, as in
    T. Kalibera and R. Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013, section 6,
    where the topmost level of repetition decides.

    Args:
        a, b: The labels.
        times_a, times_b: Seconds, [sets of sessions, rounds]; at least two sets.
        confidence: Of the interval, between 0 and 1.
    """
    logs = np.median(np.log(times_b / times_a), axis=1)
    count = len(logs)
    middle = float(logs.mean())
    error = float(logs.std(ddof=1)) / math.sqrt(count)
    reach = student_quantile(0.5 + confidence / 2, count - 1) * error
    return Ratio(a, b, math.exp(middle), math.exp(middle - reach), math.exp(middle + reach))


def student_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t distribution for a probability in [0.5, 1).

    With t = sqrt(freedom) tan(u) the density of u is proportional to cos(u)^(freedom - 1), which
    is smooth on [0, pi / 2] and summed by the trapezoidal rule.
    """
    u = np.linspace(0, math.pi / 2, _GRID)
    density = np.cos(u) ** (freedom - 1)
    mass = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    wanted = (probability - 0.5) * 2 * mass[-1]
    return math.sqrt(freedom) * math.tan(float(np.interp(wanted, mass, u)))
