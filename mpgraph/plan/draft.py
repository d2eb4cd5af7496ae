"""The draft of a plan: what each cell may become, while the deciding passes narrow it down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from mpgraph import ir
from mpgraph.analysis import CellGraph, Hazard, TypeFlow
from mpgraph.analysis.scaling import NO_SCALING, Scaling
from mpgraph.policy import PolicyMap

__all__ = ["Choice", "Draft", "Reason", "Stage"]

Stage = Literal["schema", "policy", "rule", "numerics", "target", "placement"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a dtype was chosen.

    Attributes:
        stage: Which step decided.
        text: The reason, as a phrase that completes "float32 because ...".
        rule: The selector or hazard that it came from; empty where there is none.
    """

    stage: Stage
    text: str
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """What one cell may become.

    Attributes:
        allowed: The dtypes left; a single one pins the cell.
        reason: Why it is what it is.
        explicit: Whether a rule selected it, which numerics does not overrule.
        storage: The dtype in which its constants are stored; None for the dtype it computes in.
        overruled: Reasons that lost, in the order in which they were tried.
    """

    allowed: frozenset[ir.DataType]
    reason: Reason
    explicit: bool = False
    storage: ir.DataType | None = None
    overruled: tuple[Reason, ...] = ()

    @property
    def pinned(self) -> ir.DataType | None:
        """The only dtype left; None while there is a choice."""
        return next(iter(self.allowed)) if len(self.allowed) == 1 else None

    def without(
        self, dtypes: Iterable[ir.DataType], otherwise: ir.DataType, reason: Reason
    ) -> Choice:
        """Take dtypes away; when none is left, the cell gets ``otherwise``."""
        left = self.allowed - frozenset(dtypes)
        if left == self.allowed:
            return self
        return replace(
            self,
            allowed=left or frozenset({otherwise}),
            reason=reason,
            overruled=(*self.overruled, self.reason),
        )


@dataclass
class Draft:
    """What the deciding passes know so far.

    Attributes:
        graph: The cells of the model.
        flow: The types of its values.
        policy: The policy that is applied.
        choices: One choice per cell.
        hazards: Numeric hazards found, whether they decided something or not.
        warnings: Sentences for the user.
        scaling: Which values are to be held times a power of two where they are float16.
        modes: The quantization mode of each node that has one, by name.
    """

    graph: CellGraph
    flow: TypeFlow
    policy: PolicyMap
    choices: list[Choice]
    hazards: list[Hazard] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    scaling: Scaling = NO_SCALING
    modes: Mapping[ir.Node, str] = field(default_factory=dict)

    @property
    def lows(self) -> frozenset[ir.DataType]:
        """The dtypes that any cell may change to."""
        return frozenset(
            dtype
            for cell, choice in zip(self.graph.cells, self.choices, strict=True)
            for dtype in choice.allowed
            if dtype != cell.dtype
        )
