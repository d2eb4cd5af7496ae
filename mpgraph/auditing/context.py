"""What rules look at: the facts of an audit, the IR behind them, and numeric hazards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from mpgraph import ir
from mpgraph.analysis import Hazard, build_cells
from mpgraph.analysis.hazards import Evidence, find_hazards
from mpgraph.analysis.hazards.ranges import ConstantRange
from mpgraph.auditing.collect import Weights
from mpgraph.auditing.facts import CastFact, NodeFact, QuantizationFact
from mpgraph.auditing.subject import Subject
from mpgraph.runtime import Placement, ValueStatistics
from mpgraph.targets import Target

__all__ = ["Context"]


@dataclass(frozen=True)
class Context:
    """Everything that a rule may ask.

    Attributes:
        subject: The model, its types and shapes.
        weights: Its constants and their magnitudes.
        facts: For each node what was found out about it.
        casts: What each Cast does.
        quantization: The nodes that deal with quantized numbers.
        measured: Statistics by value name; empty without data.
        target: Where the model shall run; None where that was not asked.
        placement: What a session on the target told; None where none was asked.
    """

    subject: Subject
    weights: Weights
    facts: Mapping[ir.Node, NodeFact]
    casts: tuple[CastFact, ...]
    quantization: tuple[QuantizationFact, ...]
    measured: Mapping[str, ValueStatistics] = field(default_factory=dict)
    target: Target | None = None
    placement: Placement | None = None

    @cached_property
    def nodes(self) -> Mapping[str, ir.Node]:
        """The nodes by key."""
        return {key: node for node, key in self.subject.keys.items()}

    @cached_property
    def low_dtypes(self) -> tuple[ir.DataType, ...]:
        """The low dtypes whose hazards count: float16, and bfloat16 where the model has it."""
        if self.subject.refused:
            return ()
        holds_bfloat16 = ir.DataType.BFLOAT16 in self._dtypes
        return (ir.DataType.FLOAT16, *((ir.DataType.BFLOAT16,) if holds_bfloat16 else ()))

    @cached_property
    def _dtypes(self) -> frozenset[ir.DataType]:
        flow = self.subject.flow
        return frozenset(dtype for value in flow.types if (dtype := flow.dtype(value)) is not None)

    @cached_property
    def evidence(self) -> Mapping[ir.DataType, Evidence]:
        """What speaks for and against each low dtype."""
        subject, ranges = self.subject, self.weights.ranges
        graph = build_cells(subject.model, subject.flow)
        known = {
            value: ConstantRange(found.amax, self.weights.tensors[value].size)
            for value, found in ranges.items()
        }
        smallest = {value: found.smallest for value, found in ranges.items()}
        unread = frozenset(value for value in self.weights.tensors if value not in ranges)
        return {
            dtype: Evidence(
                graph,
                subject.flow,
                dtype,
                self.measured,
                dict(known),
                smallest=smallest,
                unread=unread,
            )
            for dtype in self.low_dtypes
        }

    @cached_property
    def _hazards(self) -> Mapping[str, tuple[Hazard, ...]]:
        found: dict[str, list[Hazard]] = {}
        for evidence in self.evidence.values():
            for hazard in find_hazards(evidence):
                found.setdefault(hazard.kind, []).append(hazard)
        return {kind: tuple(hazards) for kind, hazards in found.items()}

    def hazards(self, *kinds: str) -> Iterator[Hazard]:
        """The hazards of some kinds at values that are, or could be made, of the low dtype."""
        for kind in kinds:
            for hazard in self._hazards.get(kind, ()):
                dtype = self.subject.flow.dtype(hazard.subject)
                if dtype in (ir.DataType.FLOAT, ir.DataType.DOUBLE, hazard.dtype):
                    yield hazard

    def is_low(self, value: ir.Value, dtype: ir.DataType) -> bool:
        """Whether a value is of a low dtype already, or behind a cast to it."""
        flow = self.subject.flow
        return flow.dtype(value) == dtype or any(
            flow.dtype(result) == dtype
            for use in value.uses()
            if use.node.op_type in ("Cast", "CastLike")
            for result in use.node.outputs
        )

    def constants(self, values: Iterable[ir.Value | None]) -> Iterator[ir.Value]:
        """Those of some operands that are constants."""
        return (value for value in values if value is not None and value in self.weights.tensors)
