"""Constants, and numbers in attributes, that a low dtype cannot hold."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph.analysis.hazard import Hazard
from mpgraph.analysis.hazards.evidence import Evidence
from mpgraph.analysis.hazards.names import short_name
from mpgraph.analysis.hazards.ranges import is_lost
from mpgraph.analysis.hazards.vanishing import vanishing

__all__ = ["attribute_overflow", "attribute_underflow", "constant_overflow", "constant_underflow"]


def constant_overflow(evidence: Evidence) -> Iterator[Hazard]:
    """Constants with a finite magnitude above the largest number of the dtype."""
    for value in evidence.tensors:
        found = evidence.range_of(value)
        if found is not None and found.amax > evidence.limits.max:
            yield evidence.hazard(
                "constant-overflow",
                f"constant outside {short_name(evidence.dtype)} range",
                value,
                f"magnitude {found.amax:.4g} above {evidence.limits.max:.5g}",
                evidence.around(value),
            )


def constant_underflow(evidence: Evidence) -> Iterator[Hazard]:
    """Constants that vanish, or lose their digits, below the normal range of the dtype.

    A single number counts as lost when rounding changes it by more than 2^-8; a tensor when its
    largest magnitude is below the smallest normal number. Whatever hands such a constant on as it
    is, a Reshape, the call of a function, must be as wide as what takes it in the end.
    """
    for value, magnitude in vanishing(evidence).items():
        yield evidence.hazard(
            "constant-underflow",
            f"constant underflows {short_name(evidence.dtype)}",
            value,
            f"magnitude {magnitude:.4g}",
            evidence.around(value),
        )


def attribute_overflow(evidence: Evidence) -> Iterator[Hazard]:
    """Numbers above the largest one of the dtype that a node holds in an attribute."""
    for number in evidence.numbers:
        if number.largest > evidence.limits.max:
            yield evidence.hazard(
                "attribute-overflow",
                f"constant outside {short_name(evidence.dtype)} range",
                number.node.outputs[0],
                f"{number.text}: magnitude {number.largest:.4g} above {evidence.limits.max:.5g}",
                evidence.cells_of([number.node]),
            )


def attribute_underflow(evidence: Evidence) -> Iterator[Hazard]:
    """Numbers in an attribute that lose their digits below the normal range of the dtype."""
    for number in evidence.numbers:
        if is_lost(number.smallest, evidence.dtype):
            yield evidence.hazard(
                "attribute-underflow",
                f"constant underflows {short_name(evidence.dtype)}",
                number.node.outputs[0],
                f"{number.text}: magnitude {number.smallest:.4g}",
                evidence.cells_of([number.node]),
            )
