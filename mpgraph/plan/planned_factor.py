"""One power of two of a plan: what is multiplied by it, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["FactorKind", "PlannedFactor"]

FactorKind = Literal["value", "operand", "output", "constant", "epsilon"]


@dataclass(frozen=True, slots=True)
class PlannedFactor:
    """Something that is multiplied by 2**power.

    Attributes:
        kind: ``value`` is what a node gives, by itself, since what it takes is scaled. The others
            bring that about: a Mul in front of an ``operand`` or graph ``output``, a scaled copy of
            a ``constant`` operand, a scaled ``epsilon`` attribute.
        key: The place of the node, such as ``main#12``; for ``output`` the path of the graph.
        index: The result, operand or output; 0 for ``epsilon``.
        name: The value or constant.
        power: The power of two.
        dtype: The dtype of the Mul; empty where there is none.
        reason: Why, as a phrase.
    """

    kind: FactorKind
    key: str
    index: int
    name: str
    power: int
    dtype: str
    reason: str
