"""Numeric hazards: one rule per function, one table of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from mpgraph.analysis.hazard import Hazard
from mpgraph.analysis.hazards.constants import (
    attribute_overflow,
    attribute_underflow,
    constant_overflow,
    constant_underflow,
)
from mpgraph.analysis.hazards.divisors import constant_small_divisors
from mpgraph.analysis.hazards.evidence import Evidence, Statistics
from mpgraph.analysis.hazards.functions import ill_conditioned
from mpgraph.analysis.hazards.integers import (
    integers_from_casts,
    integers_to_casts,
    measured_integers,
)
from mpgraph.analysis.hazards.masks import carried_overflow
from mpgraph.analysis.hazards.measured import (
    measured_overflow,
    measured_small_divisors,
    measured_underflow,
)
from mpgraph.analysis.hazards.normalizations import decomposed_normalizations
from mpgraph.analysis.hazards.reductions import exponential_sums, long_sums

__all__ = ["BEYOND_SCALING", "RULES", "Evidence", "Statistics", "find_hazards"]

RULES: tuple[Callable[[Evidence], Iterator[Hazard]], ...] = (
    constant_overflow,
    constant_underflow,
    attribute_overflow,
    attribute_underflow,
    carried_overflow,
    decomposed_normalizations,
    constant_small_divisors,
    integers_from_casts,
    integers_to_casts,
    ill_conditioned,
    long_sums,
    exponential_sums,
    measured_overflow,
    measured_underflow,
    measured_small_divisors,
    measured_integers,
)

_SCALABLE = frozenset({constant_overflow, constant_underflow, carried_overflow, measured_overflow})
BEYOND_SCALING = tuple(rule for rule in RULES if rule not in _SCALABLE)
"""The rules whose findings no power of two takes away."""


def find_hazards(
    evidence: Evidence, rules: Iterable[Callable[[Evidence], Iterator[Hazard]]] = RULES
) -> Iterator[Hazard]:
    """Everything that speaks against the dtype of ``evidence``, rule by rule."""
    for rule in rules:
        yield from rule(evidence)
