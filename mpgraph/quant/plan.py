"""The quantization plan: what each node computes on, and every scale, before anything changes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from mpgraph import ir
from mpgraph.errors import PlanError
from mpgraph.quant.places import place_of
from mpgraph.quant.planned import Form, PlannedActivation, PlannedNode, PlannedWeight

__all__ = ["QuantizationPlan"]


@dataclass(frozen=True)
class QuantizationPlan:
    """All decisions about quantization for one model.

    Attributes:
        nodes: The nodes that a quantizing policy selects.
        activations: The values that are quantized with known scales.
        weights: The constants that are quantized.
        warnings: Sentences for the user.
        places: Every node by its key, for the passes that carry the plan out; no part of its text.
        graphs: Every graph by its path, likewise.
        gains: The time that nodes with static scales save by the target's constants, by key,
            likewise.
    """

    nodes: tuple[PlannedNode, ...] = ()
    activations: tuple[PlannedActivation, ...] = ()
    weights: tuple[PlannedWeight, ...] = ()
    warnings: tuple[str, ...] = ()
    places: Mapping[str, ir.Node] = field(default_factory=dict, compare=False, repr=False)
    graphs: Mapping[str, ir.Graph] = field(default_factory=dict, compare=False, repr=False)
    gains: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)

    @property
    def quantizable(self) -> int:
        """How many nodes the modes are for."""
        return sum(node.counts for node in self.nodes)

    @property
    def quantized(self) -> int:
        """How many of these are quantized, those included that were so before."""
        return sum(node.counts and node.form != "float" for node in self.nodes)

    @cached_property
    def chosen(self) -> tuple[PlannedNode, ...]:
        """These nodes, without those that were quantized before."""
        return tuple(
            node for node in self.nodes if node.counts and node.form not in ("float", "given")
        )

    @cached_property
    def forms(self) -> Counter[Form]:
        """How many of them have each form, the most frequent first."""
        forms = Counter(node.form for node in self.nodes if node.counts)
        return Counter(dict(forms.most_common()))

    @cached_property
    def left(self) -> Counter[str]:
        """How many of them stay float for each reason, the most frequent first."""
        reasons = Counter(
            node.reason for node in self.nodes if node.counts and node.form == "float"
        )
        return Counter(dict(reasons.most_common()))

    @cached_property
    def by_reader(self) -> Mapping[str, PlannedWeight]:
        """The constants by the operand that reads them."""
        return {weight.reader: weight for weight in self.weights}

    @cached_property
    def by_name(self) -> Mapping[tuple[str, str], PlannedNode]:
        """The nodes that have a name, by it and their operator; the first of several."""
        named = [((node.name, node.op_type), node) for node in self.nodes if node.name]
        return dict(reversed(named))

    @cached_property
    def by_key(self) -> Mapping[str, PlannedNode]:
        """The nodes by key."""
        return {node.key: node for node in self.nodes}

    def find(self, key: str, name: str, op_type: str) -> PlannedNode | None:
        """What becomes of a node: found by its name, and one without a name by its key.

        A MatMul that got its bias is a Gemm of its name.
        """
        if name:
            found = self.by_name.get((name, op_type))
            merged = self.by_name.get((name, "Gemm")) if op_type == "MatMul" else None
            return found or merged
        found = self.by_key.get(key)
        return found if found is not None and found.op_type == op_type else None

    def left_float(self, key: str, name: str, op_type: str) -> bool:
        """Whether a mode was meant for a node, and it stayed float all the same."""
        planned = self.find(key, name, op_type)
        return planned is not None and planned.counts and planned.form == "float"

    def operands_of(
        self, planned: PlannedNode
    ) -> tuple[tuple[PlannedActivation, ...], tuple[PlannedWeight, ...]]:
        """The values and the constants that a node reads as quantized numbers."""
        activations, weights = self._operands
        return tuple(activations.get(planned.key, ())), tuple(weights.get(planned.key, ()))

    @cached_property
    def _operands(
        self,
    ) -> tuple[Mapping[str, list[PlannedActivation]], Mapping[str, list[PlannedWeight]]]:
        """What each node reads, by its key."""
        activations: dict[str, list[PlannedActivation]] = defaultdict(list)
        weights: dict[str, list[PlannedWeight]] = defaultdict(list)
        for activation in self.activations:
            for reader in activation.readers:
                activations[place_of(reader).key].append(activation)
        for weight in self.weights:
            weights[place_of(weight.reader).key].append(weight)
        return activations, weights

    def describe(self, key: str, name: str, op_type: str) -> dict[str, Any] | None:
        """What becomes of one node, as plain data; None where its policy does not quantize."""
        planned = self.find(key, name, op_type)
        if planned is None:
            return None
        activations, weights = self.operands_of(planned)
        return {
            **asdict(planned),
            "activations": [_activation_data(one) for one in activations],
            "weights": [_weight_data(one) for one in weights],
        }

    def nodes_of(self, *forms: Form) -> Iterator[tuple[PlannedNode, ir.Node]]:
        """The nodes that are quantized in one of some forms."""
        for planned in self.nodes:
            if planned.form in forms:
                yield planned, self.places[planned.key]

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data."""
        return {
            "nodes": [asdict(one) for one in self.nodes],
            "activations": [_activation_data(one) for one in self.activations],
            "weights": [_weight_data(one) for one in self.weights],
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> QuantizationPlan:
        """The plan of what ``to_dict`` gave; it can be read, but no pass can carry it out.

        Raises:
            PlanError: The data is no such plan.
        """
        try:
            return cls(
                tuple(PlannedNode(**one) for one in data["nodes"]),
                tuple(_activation(one) for one in data["activations"]),
                tuple(PlannedWeight(**_without(one, "granularity")) for one in data["weights"]),
                tuple(data["warnings"]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise PlanError(
                "plan", f"its quantization is damaged: {error}", "write one with --dump-plan"
            ) from error


def _activation_data(one: PlannedActivation) -> dict[str, Any]:
    return {**asdict(one), "range": one.range}


def _weight_data(one: PlannedWeight) -> dict[str, Any]:
    return {**asdict(one), "granularity": one.granularity}


def _activation(data: Mapping[str, Any]) -> PlannedActivation:
    given = _without(data, "range")
    return PlannedActivation(**{**given, "readers": tuple(data["readers"])})


def _without(data: Mapping[str, Any], derived: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != derived}
