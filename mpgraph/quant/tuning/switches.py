"""Switches in a copy of a model: what an activation loses by quantization, or the activation."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.quant.places import place_of
from mpgraph.quant.planned import PlannedActivation
from mpgraph.quant.rewriting import Writer

__all__ = ["add_switches"]

_PASS = "rounding-trial"


def add_switches(model: ir.Model, parts: Sequence[Collection[PlannedActivation]]) -> list[str]:
    """Add a bool input for each part; where it is true, its activations are rounded.

    An activation that is not float32, or of a body of a function, is left as it is.

    Args:
        model: The model, which is changed.
        parts: Activations that are rounded together.

    Returns:
        The names of the inputs.
    """
    return _Rounder(model).add(parts)


class _Rounder:
    """Puts switches into a model.

    Args:
        model: The model that gets them.
    """

    def __init__(self, model: ir.Model) -> None:
        self._model = model
        self._writer = Writer(model, _PASS)
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
        (seen,) = self._writer.behind(
            value,
            "If",
            [switch],
            [(f"{value.name}_seen", ir.DataType.FLOAT)],
            [ir.AttrGraph("then_branch", rounded), ir.AttrGraph("else_branch", exact)],
            rule="a trial",
        )
        for text in planned.readers:
            place = place_of(text)
            if place.key in self._nodes:
                self._nodes[place.key].replace_input_with(place.position, seen)
            elif place.key in self._graphs:
                self._graphs[place.key].outputs[place.position] = seen

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
