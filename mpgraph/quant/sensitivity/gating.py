"""A model in which each node is there twice, in float and quantized, with a switch for each.

One session then measures any set of quantized nodes, without a model built for it. What it leaves
out is what only neighbours do together: numbers that are handed on as integers by other operators.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mpgraph import ir
from mpgraph.quant.placement.clipped import behind_clip
from mpgraph.quant.places import place_of
from mpgraph.quant.plan import QuantizationPlan
from mpgraph.quant.planned import PlannedActivation, PlannedNode, PlannedWeight

__all__ = ["Gated", "carriers", "gate", "gateable", "in_order"]


@dataclass(frozen=True)
class Gated:
    """A model with switches, before its plan is carried out.

    Attributes:
        model: The model: each switch is a further input, bool[].
        plan: The plan for the second form of the nodes.
        switches: The names of the switches, in the order of the nodes.
        moved: For each node of the first plan by key, the key of its second form.
    """

    model: ir.Model
    plan: QuantizationPlan
    switches: tuple[str, ...]
    moved: Mapping[str, str]


def carriers(plan: QuantizationPlan, movers: Collection[str]) -> list[PlannedNode]:
    """The nodes between those that multiply whose results are rounded.

    Args:
        plan: The plan.
        movers: Operators that hand numbers on as they are.
    """
    rounded = {(one.graph, one.value) for one in plan.activations}
    return [
        node
        for node in plan.nodes
        if not node.counts
        and node.op_type not in movers
        and (node.key.rpartition("#")[0], behind_clip(plan.places[node.key].outputs[0]).name)
        in rounded
    ]


def in_order(nodes: Iterable[PlannedNode], plan: QuantizationPlan) -> list[PlannedNode]:
    """The nodes in the order in which the graphs hold them."""
    places = {key: place for place, key in enumerate(plan.places)}
    return sorted(nodes, key=lambda node: places[node.key])


def gateable(nodes: Iterable[PlannedNode], model: ir.Model) -> list[PlannedNode]:
    """The nodes that a switch can reach: those outside of functions."""
    main = {scope.path for scope in ir.main_scopes(model)}
    return [node for node in nodes if node.key.rpartition("#")[0] in main]


def gate(model: ir.Model, plan: QuantizationPlan, chosen: Sequence[PlannedNode]) -> Gated:
    """Copy a model, which is not changed, and put a switch at some of its nodes.

    The second form of a node that does not multiply is its result, rounded.

    Args:
        model: The model, in float.
        plan: What is to be quantized in it.
        chosen: Nodes of the plan.
    """
    copy = ir.clone(model)
    originals = dict(zip(ir.nodes(model), ir.nodes(copy), strict=True))
    namer = ir.Namer(copy)
    doubled: dict[str, _Doubled] = {}
    switches = []
    for planned in chosen:
        switch = ir.Value(
            name=namer.value_name("quantized"),
            type=ir.TensorType(ir.DataType.BOOL),
            shape=ir.Shape([]),
        )
        copy.graph.inputs.append(switch)
        switches.append(switch.name or "")
        node = originals[plan.places[planned.key]]
        doubled[planned.key] = _double(node, switch, namer, planned.counts)
    scopes = tuple(ir.graphs(copy))
    keys = {node: key for scope in scopes for key, node in scope.places()}
    moved = {key: keys[one.second] for key, one in doubled.items()}
    return Gated(
        copy,
        QuantizationPlan(
            nodes=tuple(replace(node, key=moved[node.key]) for node in chosen if node.counts),
            activations=tuple(_activations(plan, doubled, keys)),
            weights=tuple(
                _weights(plan, {one.key: moved[one.key] for one in chosen if one.counts})
            ),
            places={key: node for node, key in keys.items()},
            graphs={scope.path: scope.graph for scope in scopes},
        ),
        tuple(switches),
        moved,
    )


@dataclass(frozen=True, slots=True)
class _Doubled:
    """The second form of a node.

    Attributes:
        second: The node that is to be quantized.
        choosers: By result, the node that chooses between both forms.
        behind: By result, the value behind the Relu or Clip that alone reads it.
        readers: How often that value is read.
        multiplies: Whether it is the node again; else it hands its result on to be rounded.
    """

    second: ir.Node
    choosers: Mapping[str, ir.Node]
    behind: Mapping[str, str]
    readers: Mapping[str, int]
    multiplies: bool


def _double(node: ir.Node, switch: ir.Value, namer: ir.Namer, multiplies: bool) -> _Doubled:
    graph = node.graph
    if graph is None:
        raise ValueError(f"{ir.describe(node)}: it belongs to no graph")
    outputs = [
        ir.Value(
            name=namer.value_name(f"{value.name}_second") if value.name else "",
            type=value.type,
            shape=None if value.shape is None else value.shape.copy(),
        )
        for value in node.outputs
    ]
    name = namer.node_name(f"{node.name or node.op_type}_second")
    if multiplies:
        operands, attributes = list(node.inputs), list(node.attributes.values())
        second = ir.Node(
            node.domain, node.op_type, operands, attributes, outputs=outputs, name=name
        )
    else:
        second = ir.Node("", "Identity", [node.outputs[0]], outputs=outputs[:1], name=name)
    last_values = {value.name: behind_clip(value) for value in node.outputs if value.name}
    behind = {name: value.name or "" for name, value in last_values.items()}
    readers = {
        name: len(list(value.uses())) + value.is_graph_output()
        for name, value in last_values.items()
    }
    graph.insert_after(node, second)
    choosers = {}
    last = second
    for value, other in zip(node.outputs, second.outputs, strict=False):
        result = value.name
        if not result or not (value.uses() or value.is_graph_output()):
            continue
        taken = ir.Value(type=value.type, shape=None if value.shape is None else value.shape.copy())
        ir.redirect([(use.node, use.idx) for use in value.uses() if use.node is not second], taken)
        _replace_outputs(graph, value, taken)
        value.name = namer.value_name(f"{result}_first")
        taken.name = result
        chooser = ir.Node("", "Where", [switch, other, value], outputs=[taken])
        chooser.name = namer.node_name(f"{result}_chosen")
        graph.insert_after(last, chooser)
        choosers[result] = last = chooser
    return _Doubled(second, choosers, behind, readers, multiplies)


def _replace_outputs(graph: ir.Graph, value: ir.Value, other: ir.Value) -> None:
    for index, output in enumerate(graph.outputs):
        if output is value:
            graph.outputs[index] = other


def _weights(plan: QuantizationPlan, moved: Mapping[str, str]) -> list[PlannedWeight]:
    found = []
    for weight in plan.weights:
        key, index = place_of(weight.reader)
        if key in moved:
            found.append(replace(weight, reader=f"{moved[key]}:{index}"))
    return found


def _activations(
    plan: QuantizationPlan, doubled: Mapping[str, _Doubled], keys: Mapping[ir.Node, str]
) -> list[PlannedActivation]:
    """What the second forms read, and what those write whose results are held as integers."""
    found = []
    planned = {(one.graph, one.value): one for one in plan.activations}
    for one in plan.activations:
        readers = []
        for reader in one.readers:
            key, index = place_of(reader)
            if key in doubled and doubled[key].multiplies:
                readers.append(f"{keys[doubled[key].second]}:{index}")
        if readers:
            found.append(replace(one, readers=tuple(readers)))
    static = {node.key for node in plan.nodes if node.form == "static"}
    for key, pair in doubled.items():
        graph = key.rpartition("#")[0]
        for name, chooser in pair.choosers.items():
            known, second = planned.get((graph, pair.behind[name])), chooser.inputs[1]
            if key not in static or known is None or second is None:
                continue
            if len(known.readers) >= pair.readers[name] or not pair.multiplies:
                reader = f"{keys[chooser]}:1"
                found.append(replace(known, value=second.name or "", readers=(reader,)))
    return found
