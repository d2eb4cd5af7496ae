"""Rules hold for what a node holds: the bodies of control flow and of called functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from mpgraph import ir
from mpgraph.policy.facts import read_facts
from mpgraph.policy.maps import PolicyMap
from mpgraph.policy.resolve import Resolution, Resolver

__all__ = ["held_by", "inherit", "own_resolutions", "resolve_nodes"]

Resolutions = dict[ir.Node, Resolution]


def resolve_nodes(model: ir.Model, policy: PolicyMap) -> Resolutions:
    """Find the policy of every node, that of the nodes around it included.

    A node that no rule selects takes the policy of the nearest node around it that a rule selects:
    the If, Loop, Scan or SequenceMap that holds its graph, or the node that calls its function.
    Calls count only where all calls of the function have one policy.

    Raises:
        PolicyValueError: Two equally specific rules match a node and disagree.
    """
    found = own_resolutions(model, policy)
    if not policy.rules:
        return found
    inherit(ir.main_scopes(model), found, None)
    calls = ir.function_calls(model)
    for function in ir.callers_first(model):
        given = [(node, found[node]) for node in calls[function.identifier()]]
        policies = {one.policy if one.explicit else None for _, one in given}
        holder = held_by(*given[0]) if len(policies) == 1 else None
        inherit(ir.function_scopes(function), found, holder)
    return found


def own_resolutions(model: ir.Model, policy: PolicyMap) -> Resolutions:
    """Find the policy of every node by the rules that select the node itself.

    No rule selects what an earlier conversion inserted: rules speak of the nodes that their author
    saw, and converting twice must not differ from converting once.

    Raises:
        PolicyValueError: Two equally specific rules match a node and disagree.
    """
    resolver = Resolver(policy)
    default = Resolution(policy.default)
    return {
        node: default if _is_inserted(node) else resolver.resolve(facts)
        for node, facts in read_facts(model, policy)
    }


def inherit(
    scopes: Iterable[ir.GraphScope], resolutions: Resolutions, outer: Resolution | None
) -> None:
    """Hand the policies of nodes down to what they hold, in place.

    Args:
        scopes: A graph and its subgraphs, outer ones first.
        resolutions: The policies of all nodes by their own rules.
        outer: What holds for the whole graph; None for nothing.
    """
    for scope in scopes:
        inherited = outer if scope.owner is None else held_by(scope.owner, resolutions[scope.owner])
        if inherited is None:
            continue
        for node in scope.graph:
            if not resolutions[node].explicit and not _is_inserted(node):
                resolutions[node] = inherited


def held_by(node: ir.Node, resolution: Resolution) -> Resolution | None:
    """What a node hands down: its policy, if a rule selected it or a node around it."""
    if not resolution.explicit:
        return None
    return resolution if resolution.holder else replace(resolution, holder=ir.describe(node))


def _is_inserted(node: ir.Node) -> bool:
    origin = ir.origin(node)
    return origin is not None and origin[0] != "version-convert"
