"""Where values go on under another name: into the bodies of control flow and functions, and out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from mpgraph import ir
from mpgraph.analysis.cells import CellGraph
from mpgraph.analysis.dtype_flow import TypeFlow, leading_operands
from mpgraph.schema import subgraphs

__all__ = ["Handovers", "find_handovers"]

_Pair = tuple[ir.Value | None, ir.Value]
_Values = Sequence[ir.Value | None]


@dataclass(frozen=True)
class Handovers:
    """The values that are one value on two sides of an interface.

    Attributes:
        onwards: For each value, those that take it over.
        backwards: For each value, those that it takes over.
        owners: The nodes that do nothing to their operands but hand them over.
    """

    onwards: Mapping[ir.Value, Sequence[ir.Value]]
    backwards: Mapping[ir.Value, Sequence[ir.Value]]
    owners: AbstractSet[ir.Node]


def find_handovers(graph: CellGraph, flow: TypeFlow) -> Handovers:
    """Collect the handovers of a model: from operands into bodies, from there to results.

    What a Loop or Scan carries also goes to the next round, and past a loop that never runs.
    """
    onwards: dict[ir.Value, list[ir.Value]] = {}
    backwards: dict[ir.Value, list[ir.Value]] = {}
    owners: set[ir.Node] = set()
    for scope in graph.scopes:
        for node in scope.graph:
            pairs = _pairs(node, flow, scope)
            if pairs is None:
                continue
            owners.add(node)
            for source, target in pairs:
                if source is not None:
                    onwards.setdefault(source, []).append(target)
                    backwards.setdefault(target, []).append(source)
    return Handovers(onwards, backwards, owners)


def _pairs(node: ir.Node, flow: TypeFlow, scope: ir.GraphScope) -> Iterator[_Pair] | None:
    function = flow.calls.get(node) if flow.calls else None
    if function is not None:
        return _straight(node, function.inputs, function.outputs)
    rule = _CONTROL_FLOW.get(node.op_type) if node.domain == "" else None
    return None if rule is None else rule(node, scope)


def _straight(node: ir.Node, inputs: _Values, outputs: _Values) -> Iterator[_Pair]:
    """Operands are the inputs of a body, and its outputs the results, position by position."""
    yield from _zipped(node.inputs, inputs)
    yield from _zipped(outputs, node.outputs)


def _if(node: ir.Node, scope: ir.GraphScope) -> Iterator[_Pair]:
    for branch in subgraphs(node).values():
        yield from _zipped(branch.outputs, node.outputs)


def _loop(node: ir.Node, scope: ir.GraphScope) -> Iterator[_Pair]:
    body = node.attributes["body"].as_graph()
    yield from _carried(node, body, node.inputs[2:], body.inputs[2:], body.outputs[1:])


def _scan(node: ir.Node, scope: ir.GraphScope) -> Iterator[_Pair]:
    body = node.attributes["body"].as_graph()
    operands = node.inputs[leading_operands(scope.opset_imports) :]
    states = len(body.inputs) - node.attributes["num_scan_inputs"].as_int()
    yield from _zipped(operands[states:], body.inputs[states:])
    yield from _carried(node, body, operands[:states], body.inputs[:states], body.outputs)


def _carried(
    node: ir.Node, body: ir.Graph, operands: _Values, inputs: _Values, outputs: _Values
) -> Iterator[_Pair]:
    """States start as operands and end as results; what a body gives beyond them is stacked."""
    states = len(inputs)
    yield from _zipped(operands, inputs)
    yield from _zipped(operands[:states], node.outputs)
    yield from _zipped(outputs[:states], inputs)
    yield from _zipped(outputs, node.outputs)


def _sequence_map(node: ir.Node, scope: ir.GraphScope) -> Iterator[_Pair]:
    body = node.attributes["body"].as_graph()
    return _straight(node, body.inputs, body.outputs)


def _zipped(sources: _Values, targets: _Values) -> Iterator[_Pair]:
    for source, target in zip(sources, targets, strict=False):
        if target is not None:
            yield source, target


_CONTROL_FLOW: Mapping[str, Callable[[ir.Node, ir.GraphScope], Iterator[_Pair]]] = {
    "If": _if,
    "Loop": _loop,
    "Scan": _scan,
    "SequenceMap": _sequence_map,
}
