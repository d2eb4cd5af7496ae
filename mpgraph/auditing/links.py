"""Links between nodes that look through casts, quantizers and Identities."""

from __future__ import annotations

from mpgraph.auditing.facts import NodeFact
from mpgraph.auditing.graph_index import GraphIndex

__all__ = ["first_readers", "is_carrier", "sources"]

_CARRIERS = frozenset(
    {
        ("", "Cast"),
        ("", "CastLike"),
        ("", "Identity"),
        ("", "QuantizeLinear"),
        ("", "DequantizeLinear"),
        ("com.microsoft", "QuantizeLinear"),
        ("com.microsoft", "DequantizeLinear"),
    }
)


def is_carrier(node: NodeFact) -> bool:
    """Whether a node only hands its first operand on, in another form."""
    return (node.domain, node.op_type) in _CARRIERS


def sources(index: GraphIndex) -> list[int]:
    """For each value the number of the one that it is another form of; its own for most."""
    found = list(range(len(index.values)))
    for number, node in enumerate(index.nodes):
        inputs, outputs = index.inputs[number], index.outputs[number]
        if is_carrier(node) and inputs and inputs[0] >= 0 and outputs and outputs[0] >= 0:
            found[outputs[0]] = found[inputs[0]]
    return found


def first_readers(index: GraphIndex) -> list[tuple[int, int] | None]:
    """For each value the first node that computes with it, and as which operand."""
    found: list[tuple[int, int] | None] = [None] * len(index.values)
    for number in reversed(range(len(index.nodes))):
        inputs, outputs = index.inputs[number], index.outputs[number]
        if is_carrier(index.nodes[number]) and outputs and outputs[0] >= 0:
            reader = found[outputs[0]]
            if inputs and inputs[0] >= 0 and reader is not None:
                found[inputs[0]] = reader
            continue
        for operand in reversed(range(len(inputs))):
            if inputs[operand] >= 0:
                found[inputs[operand]] = number, operand
    return found
