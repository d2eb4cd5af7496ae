"""Constants that a low dtype cannot hold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mpgraph import ir
from mpgraph.analysis.hazard import Hazard
from mpgraph.analysis.hazards.evidence import ConstantRange, Evidence
from mpgraph.analysis.hazards.names import short_name

__all__ = ["constant_overflow", "constant_underflow"]

_ROUNDING = 2.0**-8
"""A small number that loses more than this fraction of itself is taken for lost."""


def constant_overflow(evidence: Evidence) -> Iterator[Hazard]:
    """Constants with a finite magnitude above the largest number of the dtype."""
    for value in evidence.graph.constants:
        found = evidence.range_of(value)
        if found is not None and found.amax > evidence.limits.max:
            yield evidence.hazard(
                "constant-overflow",
                f"constant outside {short_name(evidence.dtype)} range",
                value,
                f"magnitude {found.amax:.4g} above {evidence.limits.max:.5g}",
                evidence.consumers.get(value, ()),
            )


def constant_underflow(evidence: Evidence) -> Iterator[Hazard]:
    """Constants that vanish, or lose their digits, below the normal range of the dtype.

    A single number counts as lost when rounding changes it by more than 2^-8; a tensor when its
    largest magnitude is below the smallest normal number.
    """
    for value in evidence.graph.constants:
        found = evidence.range_of(value)
        if found is None or not _underflows(found, evidence.dtype):
            continue
        yield evidence.hazard(
            "constant-underflow",
            f"constant underflows {short_name(evidence.dtype)}",
            value,
            f"magnitude {found.amax:.4g}",
            evidence.consumers.get(value, ()),
        )


def _underflows(found: ConstantRange, dtype: ir.DataType) -> bool:
    if not 0 < found.amax < ir.limits(dtype).smallest_normal:
        return False
    if found.size > 1:
        return True
    rounded = float(np.float32(found.amax).astype(dtype.numpy()))
    return abs(rounded - found.amax) > _ROUNDING * found.amax
