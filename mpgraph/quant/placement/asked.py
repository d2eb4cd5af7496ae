"""Which values' ranges a plan of quantization would look at."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from mpgraph import ir
from mpgraph.analysis import TypeFlow
from mpgraph.policy import Resolution
from mpgraph.quant.calibration import Calibration, computed_floats
from mpgraph.quant.observers import LeftOut, Observer, Range
from mpgraph.quant.placement.decide import decide
from mpgraph.targets import Target, quantization_rules

__all__ = ["asked_values"]


def asked_values(
    model: ir.Model,
    flow: TypeFlow,
    resolutions: Mapping[ir.Node, Resolution],
    target: Target,
    *,
    force: bool = False,
) -> tuple[str, ...]:
    """The values whose ranges ``decide`` needs, found by letting it plan as if it had all.

    Takes what ``decide`` takes, and leaves out what a node saves, which depends on measured sizes.
    Where one of them turns out to hold a mask, or a node to save too little, fewer values are
    quantized, but none that was not among these: a minimum cut only shrinks where something more is
    held in float.
    """
    names = {value.name for value in computed_floats(model, flow) if value.name}
    every = _Every("", Observer(), {}, known=names)
    rules = replace(quantization_rules(target), quantizes_all=True)
    plan = decide(model, flow, resolutions, target, every, force=force, rules=rules)
    quantized = (one.value for one in plan.activations if one.value in names)
    return tuple(dict.fromkeys((*quantized, *every.asked)))


@dataclass(frozen=True)
class _Every(Calibration):
    """A range for every value; keeps the names of those that somebody asks for."""

    known: Collection[str] = ()
    asked: dict[str, None] = field(default_factory=dict)

    @property
    def names(self) -> Collection[str]:
        """All of them."""
        return self.known

    def left_out(self, name: str) -> tuple[LeftOut, ...]:
        """No masks."""
        return ()

    def range(self, name: str, levels: int = 256, symmetric: bool = False) -> Range:
        """Any."""
        self.asked[name] = None
        return Range.of(-1.0, 1.0)
