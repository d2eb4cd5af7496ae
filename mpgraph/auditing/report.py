"""The result of an audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from mpgraph.auditing.facts import (
    CastFact,
    LayerFact,
    NodeFact,
    QuantizationFact,
    Totals,
    ValueFact,
    WeightFact,
)
from mpgraph.auditing.finding import Finding
from mpgraph.runtime.placement import Placement

__all__ = ["AuditReport", "NotAudited"]


@dataclass(frozen=True, slots=True)
class NotAudited:
    """A part of the model that could not be audited.

    Attributes:
        where: A description of the node or value.
        reason: Why not, as a phrase.
    """

    where: str
    reason: str


@dataclass(frozen=True)
class AuditReport:
    """Everything that an audit found out.

    Attributes:
        model: What was audited: a path, or the name of the graph.
        producer: The exporter, as the model names it; may be empty.
        ir_version: The version of the file format.
        opset_imports: Opset versions by domain.
        target: The target that it was audited for; empty where none was asked for.
        data: Where the data came from; empty for static evidence only.
        samples: How many samples were run.
        nodes: Every node, subgraphs and functions included, in graph order.
        values: Every value, likewise.
        weights: Every constant.
        casts: Every Cast.
        quantization: Every node that deals with quantized numbers.
        layers: The root of the layer tree.
        hazards: The findings, errors first, each group in graph order.
        not_audited: What could not be looked at, with reasons.
        placement: Where onnxruntime runs the nodes; None where no target was asked for, or it is
            not installed.
    """

    model: str
    producer: str
    ir_version: int
    opset_imports: Mapping[str, int]
    target: str
    data: str
    samples: int
    nodes: tuple[NodeFact, ...]
    values: tuple[ValueFact, ...]
    weights: tuple[WeightFact, ...]
    casts: tuple[CastFact, ...]
    quantization: tuple[QuantizationFact, ...]
    layers: LayerFact
    hazards: tuple[Finding, ...]
    not_audited: tuple[NotAudited, ...] = ()
    placement: Placement | None = field(default=None)

    @cached_property
    def dtypes(self) -> Mapping[str, str]:
        """The dtype of every value of the main graph by name; unknown ones are left out."""
        return {
            value.name: value.dtype
            for value in self.values
            if value.graph == "main" and value.dtype and value.name
        }

    @property
    def totals(self) -> Totals:
        """Sums over the whole model."""
        return self.layers.totals

    @cached_property
    def kinds(self) -> Counter[str]:
        """How many findings there are of each kind."""
        return Counter(finding.kind for finding in self.hazards)
