"""Switches that compute one form of a node, not both of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from mpgraph import ir

__all__ = ["compute_lazily"]

_FORMS = (1, 2)
"""The operands of a Where that are taken where its switch is on, and off."""


def compute_lazily(model: ir.Model, switches: Collection[str]) -> None:
    """Turn every Where that a switch decides into an If; what one operand alone needs goes into it.

    A session then takes as long as the forms that are switched on, and keeps the rest out of its
    caches and its memory.

    Args:
        model: What ``gate`` gave, quantized; it is changed.
        switches: The names of the switches.
    """
    namer = ir.Namer(model)
    inputs = {value for value in model.graph.inputs if value.name in switches}
    for scope in list(ir.main_scopes(model)):
        places = {node: place for place, node in enumerate(scope.graph)}
        choosers: dict[ir.Value, list[ir.Node]] = defaultdict(list)
        for node in places:
            condition = node.inputs[0] if node.op_type == "Where" else None
            if condition in inputs and condition is not None:
                choosers[condition].append(node)
        for switch, group in choosers.items():
            _replace(scope.graph, switch, group, places, namer)


def _replace(
    graph: ir.Graph,
    switch: ir.Value,
    choosers: Sequence[ir.Node],
    places: dict[ir.Node, int],
    namer: ir.Namer,
) -> None:
    """Put one If in the place of all that a switch decides."""
    branches = []
    for position in _FORMS:
        operands = [chooser.inputs[position] for chooser in choosers]
        inner = sorted(_only_for(operands, choosers, position, places), key=places.__getitem__)
        branches.append((operands, inner))
    results = [
        ir.Value(type=value.type, shape=None if value.shape is None else value.shape.copy())
        for value in (chooser.outputs[0] for chooser in choosers)
    ]
    node = ir.Node("", "If", [switch], outputs=results, name=namer.node_name("chosen"))
    graph.insert_before(choosers[0], node)
    for chooser, result in zip(choosers, results, strict=True):
        value = chooser.outputs[0]
        ir.redirect([(use.node, use.idx) for use in value.uses()], result)
        for index, output in enumerate(graph.outputs):
            if output is value:
                graph.outputs[index] = result
        value.name, result.name = None, value.name
        graph.remove(chooser, safe=True)
    for name, (operands, inner) in zip(("then_branch", "else_branch"), branches, strict=True):
        node.attributes[name] = ir.AttrGraph(name, _branch(graph, operands, inner, namer))


def _only_for(
    operands: Iterable[ir.Value | None],
    choosers: Collection[ir.Node],
    position: int,
    places: dict[ir.Node, int],
) -> set[ir.Node]:
    """The nodes of the graph that serve nothing but some operands."""
    found: set[ir.Node] = set()
    pending = list(operands)
    while pending:
        value = pending.pop()
        node = None if value is None else value.producer()
        if node is None or node in found or node not in places:
            continue
        is_alone = all(_is_read_by(one, found, choosers, position) for one in node.outputs)
        if is_alone and not _shares_weight(node):
            found.add(node)
            pending.extend(node.inputs)
    return found


def _is_read_by(
    value: ir.Value, nodes: Collection[ir.Node], choosers: Collection[ir.Node], position: int
) -> bool:
    """Whether nothing else reads a value than some nodes, and some choosers at a position."""
    return not value.is_graph_output() and all(
        use.node in nodes or (use.node in choosers and use.idx == position) for use in value.uses()
    )


def _shares_weight(node: ir.Node) -> bool:
    """Whether it dequantizes a constant that others read too.

    onnxruntime only takes such a constant into its kernels from the same graph.
    """
    return node.op_type == "DequantizeLinear" and any(
        value is not None and value.is_initializer() and len(value.uses()) > 1
        for value in node.inputs[:1]
    )


def _branch(
    graph: ir.Graph,
    operands: Sequence[ir.Value | None],
    nodes: Sequence[ir.Node],
    namer: ir.Namer,
) -> ir.Graph:
    """The body that computes some operands; nodes are moved into it."""
    graph.remove(nodes)
    body, outputs = list(nodes), []
    for value in operands:
        if value is None:
            raise ValueError("a switch chooses between two values")
        result = value
        if value.producer() not in nodes:
            copied = ir.node("Identity", [value])
            body.append(copied)
            (result,) = copied.outputs
            result.name = namer.value_name(f"{value.name}_handed_on")
            result.type, result.shape = value.type, value.shape
        outputs.append(result)
    constants = _constants(graph, nodes)
    for constant in constants:
        graph.initializers.pop(constant.name or "")
    return ir.Graph([], outputs, nodes=body, initializers=constants, name=namer.node_name("form"))


def _constants(graph: ir.Graph, nodes: Collection[ir.Node]) -> list[ir.Value]:
    """The constants of a graph that only some nodes read."""
    read = dict.fromkeys(value for node in nodes for value in node.inputs if value is not None)
    return [
        value
        for value in read
        if value.is_initializer()
        and value.graph is graph
        and not value.is_graph_output()
        and all(use.node in nodes for use in value.uses())
    ]
