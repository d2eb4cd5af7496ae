"""The provider on which each node has to run, by the kernels of the target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types
from mpgraph.runtime.providers import CPU_PROVIDER
from mpgraph.schema import lookup
from mpgraph.targets import Support, Target, find_provider

__all__ = ["Expected", "expected_providers"]


@dataclass(frozen=True, slots=True)
class Expected:
    """The provider that is expected to run a node, and why; empty where nothing is.

    Attributes:
        provider: The provider; empty for a node that runs nowhere, or of which nothing is known.
        reason: Why that one, as a phrase.
        support: How the target runs it; None where its kernels were not asked.
    """

    provider: str
    reason: str
    support: Support | None = None


def expected_providers(model: ir.Model, target: Target) -> Iterator[Expected]:
    """What the target's kernels promise for each node, in the order of ``ir.nodes``.

    Of a provider that compiles subgraphs nothing but itself is expected: it has no list of kernels.
    """
    flow = infer_types(model)
    compiles = find_provider(target.provider).compiles
    for scope in ir.graphs(model):
        called_in_many_ways = (
            scope.function is not None and scope.function.identifier() in flow.polymorphic
        )
        for node in scope.graph:
            if node in flow.calls or called_in_many_ways:
                yield Expected("", "a function, which is inlined")
            elif compiles:
                yield Expected(target.provider, f"{target.name} compiles what it can")
            else:
                yield _expected(node, scope, flow, target)


def _expected(node: ir.Node, scope: ir.GraphScope, flow: TypeFlow, target: Target) -> Expected:
    opset = ir.opset_of(node.domain, scope.opset_imports)
    if opset is None or lookup(node.domain, node.op_type, opset) is None:
        return Expected("", "no known schema")
    attributes = {name: one.value for name, one in node.attributes.items() if not one.is_ref()}
    support = target.support(
        node.domain, node.op_type, opset, _assignment(node, opset, flow), attributes
    )
    match support:
        case Support.NATIVE:
            return Expected(target.provider, "it has a kernel", support)
        case Support.FALLBACK:
            return Expected(CPU_PROVIDER, f"{target.provider} has no kernel", support)
        case Support.CAST_AROUND:
            reason = "no kernel for float16; casts around a float32 one"
            return Expected(CPU_PROVIDER, reason, support)
        case Support.EXPANDED:
            return Expected("", "no kernel; its operator is expanded", support)
    return Expected("", "no kernel", support)


def _assignment(node: ir.Node, opset: int, flow: TypeFlow) -> dict[str, str]:
    """The type string of each type variable that the node binds."""
    operator = lookup(node.domain, node.op_type, opset)
    if operator is None:
        return {}
    types: dict[str, str] = {}
    for values, parameter in ((node.outputs, operator.output), (node.inputs, operator.input)):
        for index, value in enumerate(values):
            formal, known = parameter(index), flow.type(value)
            if formal is not None and known is not None and formal.type in operator.variables:
                types[formal.type] = known
    return types
