"""Switches in a copy of a model: what a value loses by quantization, or the value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.quant.places import place_of
from mpgraph.quant.planned import PlannedActivation, PlannedWeight
from mpgraph.quant.rewriting import WeightStore, Writer

__all__ = ["add_switches"]

_PASS, _RULE = "rounding-trial", "a trial"


def add_switches(
    model: ir.Model,
    parts: Sequence[Collection[PlannedActivation]],
    weights: Iterable[PlannedWeight] = (),
) -> list[str]:
    """Add a bool input for each part; where it is true, its activations are rounded.

    So are the weights of the nodes that read them. An activation that is not float32, or of a body
    of a function, is left as it is.

    Args:
        model: The model, which is changed.
        parts: Activations that are rounded together.
        weights: How the weights of their readers are rounded; others stay as they are.

    Returns:
        The names of the inputs.
    """
    return _Rounder(model, weights).add(parts)


class _Rounder:
    """Puts switches into a model.

    Args:
        model: The model that gets them.
        weights: How constants are rounded.
    """

    def __init__(self, model: ir.Model, weights: Iterable[PlannedWeight]) -> None:
        self._model = model
        self._writer = Writer(model, _PASS)
        self._store = WeightStore(self._writer)
        self._weights: dict[str, list[PlannedWeight]] = {}
        for weight in weights:
            self._weights.setdefault(place_of(weight.reader).key, []).append(weight)
        self._flow = infer_types(model)
        scopes = [scope for scope in ir.graphs(model) if scope.function is None]
        self._graphs = {scope.path: scope.graph for scope in scopes}
        self._nodes = dict(place for scope in scopes for place in scope.places())
        self._values = {
            (scope.path, value.name): value
            for scope in scopes
            for value in ir.defined_values(scope.graph)
        }

    def add(self, parts: Sequence[Collection[PlannedActivation]]) -> list[str]:
        """Add the switches."""
        ir.import_default_domain(self._model)
        names = []
        for index, part in enumerate(parts):
            name = self._writer.free_name(f"rounds_{index}")
            switch = ir.Value(name=name, type=ir.TensorType(ir.DataType.BOOL), shape=ir.Shape([]))
            self._model.graph.inputs.append(switch)
            names.append(name)
            for planned in part:
                self._round(planned, switch)
        return names

    def _round(self, planned: PlannedActivation, switch: ir.Value) -> None:
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
                for weight in self._weights.pop(place.key, ()):
                    self._round_weight(self._nodes[place.key], weight, switch)
            elif place.key in self._graphs:
                self._graphs[place.key].outputs[place.position] = seen

    def _round_weight(self, node: ir.Node, planned: PlannedWeight, switch: ir.Value) -> None:
        index = place_of(planned.reader).position
        value, graph = node.inputs[index], node.graph
        if value is None or graph is None or self._flow.dtype(value) != ir.DataType.FLOAT:
            return
        stored = self._store.store(graph, value, planned, ir.DataType.FLOAT)
        operands = [stored.values, stored.scale, stored.zero_point]
        rounded = self._branch(ir.Node("", "DequantizeLinear", operands, stored.attributes))
        exact = self._branch(ir.node("Identity", [value]))
        attributes = [ir.AttrGraph("then_branch", rounded), ir.AttrGraph("else_branch", exact)]
        result = (f"{value.name}_seen", ir.DataType.FLOAT)
        (seen,) = self._writer.before(node, "If", [switch], [result], attributes, rule=_RULE)
        node.replace_input_with(index, seen)

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
