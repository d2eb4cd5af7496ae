"""The nodes of a model: what each computes in, how much, and where."""

from __future__ import annotations

from collections.abc import Mapping

from mpgraph import ir
from mpgraph.analysis.compute_dtype import compute_dtype
from mpgraph.auditing.collect.attributes import attribute_text
from mpgraph.auditing.collect.multiply_accumulates import multiply_accumulates
from mpgraph.auditing.collect.placement import NOWHERE, Placed
from mpgraph.auditing.collect.values import dtype_text
from mpgraph.auditing.collect.weights import Weights
from mpgraph.auditing.facts import NodeFact
from mpgraph.auditing.subject import Subject

__all__ = ["collect_nodes"]


def collect_nodes(
    subject: Subject, weights: Weights, placed: Mapping[str, Placed]
) -> tuple[NodeFact, ...]:
    """Every node, in graph order.

    Args:
        subject: The model.
        weights: Its constants.
        placed: Where nodes run, by key; empty where that was not asked for.
    """
    return tuple(_fact(subject, weights, placed, scope, node) for scope, node in subject.nodes())


def _fact(
    subject: Subject,
    weights: Weights,
    placed: Mapping[str, Placed],
    scope: ir.GraphScope,
    node: ir.Node,
) -> NodeFact:
    key = subject.keys[node]
    origin = ir.origin(node)
    constants = [
        weights.tensors[value]
        for value in dict.fromkeys(node.inputs)
        if value is not None and value in weights.tensors
    ]
    place = placed.get(key, NOWHERE)
    return NodeFact(
        key=key,
        graph=scope.path,
        name=node.name or "",
        op_type=node.op_type,
        domain=node.domain,
        scope=subject.module_paths[node],
        dtype=dtype_text(compute_dtype(node, subject.flow)),
        inputs=tuple("" if value is None else value.name or "" for value in node.inputs),
        outputs=tuple(value.name or "" for value in node.outputs),
        parameters=sum(tensor.size for tensor in constants),
        parameter_bytes=sum(tensor.nbytes for tensor in constants),
        multiply_accumulates=multiply_accumulates(node, subject.flow),
        origin="" if origin is None else ": ".join(filter(None, origin)),
        provider=place.provider,
        placement=place.state,
        attributes=attribute_text(node),
    )
