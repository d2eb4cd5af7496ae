"""What policies look at, read off a model."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.policy.maps import PolicyMap
from mpgraph.policy.selectors import NodeFacts

__all__ = ["node_facts", "read_facts"]

_NodeWithFacts = tuple[ir.Node, NodeFacts]


def node_facts(model: ir.Model, policy: PolicyMap) -> dict[ir.Node, NodeFacts]:
    """What the rules of ``policy`` look at, for every node, subgraphs and functions included.

    They hold for the model as it is: passes rename, replace and remove nodes, so that what one has
    read is not handed on to the next.
    """
    return dict(read_facts(model, policy))


def read_facts(model: ir.Model, policy: PolicyMap) -> Iterator[_NodeWithFacts]:
    """Each node with what the rules of ``policy`` look at, read when its turn comes.

    Where no rule looks at more than the operator, nodes of one operator share their facts, and the
    rest of them is left empty; weights are left out where no rule asks for them.
    """
    rules = policy.rules
    if any(rule.key for rule in rules):
        return _with_places(model)
    if any(rule.initializer for rule in rules):
        return ((node, _facts(node, _initializers(node))) for node in ir.nodes(model))
    if any(rule.name or rule.path or rule.scope for rule in rules):
        return ((node, _facts(node)) for node in ir.nodes(model))
    return _of_operators(model)


def _with_places(model: ir.Model) -> Iterator[_NodeWithFacts]:
    """Every node with its place, in the words of a plan."""
    for scope in ir.graphs(model):
        for index, node in enumerate(scope.graph):
            yield node, _facts(node, _initializers(node), f"{scope.path}#{index}")


def _of_operators(model: ir.Model) -> Iterator[_NodeWithFacts]:
    shared: dict[tuple[str, str], NodeFacts] = {}
    for node in ir.nodes(model):
        operator = node.op_type, node.domain
        if operator not in shared:
            shared[operator] = NodeFacts("", *operator)
        yield node, shared[operator]


def _facts(node: ir.Node, initializers: tuple[str, ...] = (), key: str = "") -> NodeFacts:
    # By position: with keywords, making the tuple takes twice as long.
    return NodeFacts(
        node.name or "",
        node.op_type,
        node.domain,
        ir.module_scope(node),
        initializers,
        ir.module_alias(node),
        key,
    )


def _initializers(node: ir.Node) -> tuple[str, ...]:
    given = [value for value in node.inputs if value is not None and value.is_initializer()]
    return tuple([value.name or "" for value in given])
