"""Switches in a copy of a model: what a value loses by quantization, or the value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.quant.places import place_of
from mpgraph.quant.planned import PlannedActivation, PlannedWeight
from mpgraph.quant.rewriting import WeightStore, Writer

__all__ = ["Switches", "add_switches"]

Planned = TypeVar("Planned", PlannedActivation, PlannedWeight)

_PASS, _RULE = "rounding-trial", "a trial"


@dataclass(frozen=True)
class Switches:
    """The names of bool inputs; where one is true, its part is rounded.

    Attributes:
        activations: One for each part of the activations.
        weights: One for each part of the weights.
    """

    activations: tuple[str, ...]
    weights: tuple[str, ...]


def add_switches(
    model: ir.Model,
    activations: Sequence[Collection[PlannedActivation]],
    weights: Sequence[Collection[PlannedWeight]] = (),
) -> Switches:
    """Add a bool input for each part of the activations, and for each part of the weights.

    An activation that is not float32, or of a body of a function, is left as it is.

    Args:
        model: The model, which is changed.
        activations: Those that are rounded together.
        weights: Likewise.

    Returns:
        The inputs.
    """
    ir.import_default_domain(model)
    rounder = _Rounder(model)
    return Switches(
        tuple(
            rounder.add(f"rounds_{index}", part, rounder.round)
            for index, part in enumerate(activations)
        ),
        tuple(
            rounder.add(f"rounds_weights_{index}", part, rounder.round_weight)
            for index, part in enumerate(weights)
        ),
    )


class _Rounder:
    """Puts switches into a model.

    Args:
        model: The model that gets them.
    """

    def __init__(self, model: ir.Model) -> None:
        self._model = model
        self._writer = Writer(model, _PASS)
        self._store = WeightStore(self._writer)
        self._flow = infer_types(model)
        scopes = [scope for scope in ir.graphs(model) if scope.function is None]
        self._graphs = {scope.path: scope.graph for scope in scopes}
        self._nodes = dict(place for scope in scopes for place in scope.places())
        self._values = {
            (scope.path, value.name): value
            for scope in scopes
            for value in ir.defined_values(scope.graph)
        }

    def add(
        self, text: str, part: Collection[Planned], rounds: Callable[[Planned, ir.Value], None]
    ) -> str:
        """Add one switch; return its name."""
        name, boolean = self._writer.free_name(text), ir.TensorType(ir.DataType.BOOL)
        switch = ir.Value(name=name, type=boolean, shape=ir.Shape([]))
        self._model.graph.inputs.append(switch)
        for planned in part:
            rounds(planned, switch)
        return name

    def round(self, planned: PlannedActivation, switch: ir.Value) -> None:
        """Let the readers of an activation see it rounded where a switch is true."""
        value = self._values.get((planned.graph, planned.value))
        graph = None if value is None else value.graph
        if value is None or graph is None or self._flow.dtype(value) != ir.DataType.FLOAT:
            return
        rounded, exact = self._rounded(value, planned), self._branch(ir.node("Identity", [value]))
        attributes = [ir.AttrGraph("then_branch", rounded), ir.AttrGraph("else_branch", exact)]
        result = (f"{value.name}_seen", ir.DataType.FLOAT)
        (seen,) = self._writer.behind(value, "If", [switch], [result], attributes, rule=_RULE)
        for text in planned.readers:
            place = place_of(text)
            if place.key in self._nodes:
                self._nodes[place.key].replace_input_with(place.position, seen)
            elif place.key in self._graphs:
                self._graphs[place.key].outputs[place.position] = seen

    def round_weight(self, planned: PlannedWeight, switch: ir.Value) -> None:
        """Let the node that a weight is for see it rounded where a switch is true."""
        place = place_of(planned.reader)
        node = self._nodes.get(place.key)
        value = None if node is None else node.inputs[place.position]
        if node is None or value is None or self._flow.dtype(value) != ir.DataType.FLOAT:
            return
        graph = node.graph
        assert graph is not None
        stored = self._store.store(graph, value, planned, ir.DataType.FLOAT)
        operands = [stored.values, stored.scale, stored.zero_point]
        rounded = self._branch(ir.Node("", "DequantizeLinear", operands, stored.attributes))
        exact = self._branch(ir.node("Identity", [value]))
        attributes = [ir.AttrGraph("then_branch", rounded), ir.AttrGraph("else_branch", exact)]
        result = (f"{value.name}_seen", ir.DataType.FLOAT)
        (seen,) = self._writer.before(node, "If", [switch], [result], attributes, rule=_RULE)
        node.replace_input_with(place.position, seen)

    def _rounded(self, value: ir.Value, planned: PlannedActivation) -> ir.Graph:
        """What is left of a value after quantization."""
        graph, dtype = self._model.graph, ir.parse_dtype(planned.dtype)
        scale = self._writer.scalar(graph, "scale", planned.scale, ir.DataType.FLOAT)
        zero = self._writer.scalar(graph, "zero_point", planned.zero_point, dtype)
        numbers = ir.node("QuantizeLinear", [value, scale, zero])
        return self._branch(numbers, ir.node("DequantizeLinear", [numbers.outputs[0], scale, zero]))

    def _branch(self, *nodes: ir.Node) -> ir.Graph:
        """A body of an If; its names are unique over the whole model."""
        for node in nodes:
            node.outputs[0].name = self._writer.free_name(node.op_type)
        return ir.Graph([], nodes[-1].outputs, nodes=nodes, name="branch")
