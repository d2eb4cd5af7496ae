"""What policies look at, read off a model."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.policy.maps import PolicyMap
from mpgraph.policy.selectors import NodeFacts

__all__ = ["node_facts"]


def node_facts(model: ir.Model, policy: PolicyMap) -> dict[ir.Node, NodeFacts]:
    """What the rules of ``policy`` look at, for every node, subgraphs and functions included.

    Where no rule looks at more than the operator, nodes of one operator share their facts, and the
    rest of them is left empty.
    """
    rules = policy.rules
    if any(rule.key for rule in rules):
        return {node: _facts(node, key) for node, key in _places(model)}
    if any(rule.name or rule.path or rule.scope or rule.initializer for rule in rules):
        return {node: _facts(node, "") for node in ir.nodes(model)}
    shared: dict[tuple[str, str], NodeFacts] = {}
    facts: dict[ir.Node, NodeFacts] = {}
    for node in ir.nodes(model):
        operator = node.op_type, node.domain
        if operator not in shared:
            shared[operator] = NodeFacts("", *operator)
        facts[node] = shared[operator]
    return facts


def _places(model: ir.Model) -> Iterator[tuple[ir.Node, str]]:
    """Every node with its place, in the words of a plan."""
    for scope in ir.graphs(model):
        for index, node in enumerate(scope.graph):
            yield node, f"{scope.path}#{index}"


def _facts(node: ir.Node, key: str) -> NodeFacts:
    return NodeFacts(
        name=node.name or "",
        op_type=node.op_type,
        domain=node.domain,
        scope=ir.module_scope(node),
        initializers=tuple(
            [
                value.name or ""
                for value in node.inputs
                if value is not None and value.is_initializer()
            ]
        ),
        alias=ir.module_alias(node),
        key=key,
    )
