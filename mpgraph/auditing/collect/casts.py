"""The casts of a model, and what each does to the numbers that pass it."""

from __future__ import annotations

from mpgraph import ir
from mpgraph.analysis.cast_pairs import casts_back, holds_all, is_cast
from mpgraph.auditing.collect.values import dtype_text
from mpgraph.auditing.facts import CastEffect, CastFact
from mpgraph.auditing.subject import Subject

__all__ = ["collect_casts"]


def collect_casts(subject: Subject) -> tuple[CastFact, ...]:
    """Every Cast and CastLike, in graph order."""
    return tuple(_fact(subject, node) for _, node in subject.nodes() if is_cast(node))


def _fact(subject: Subject, node: ir.Node) -> CastFact:
    flow, operand, result = subject.flow, node.inputs[0], node.outputs[0]
    origin = ir.origin(node)
    return CastFact(
        key=subject.keys[node],
        node=subject.describe(node),
        scope=subject.module_paths[node],
        value="" if operand is None else operand.name or "",
        result=result.name or "",
        source=dtype_text(flow.dtype(operand)),
        target=dtype_text(flow.dtype(result)),
        effect=_effect(subject, node),
        consumers=len(result.uses()) + result.is_graph_output(),
        origin="" if origin is None else ": ".join(filter(None, origin)),
    )


def _effect(subject: Subject, node: ir.Node) -> CastEffect:
    source, target = (subject.flow.dtype(value) for value in (node.inputs[0], node.outputs[0]))
    if source is None or target is None:
        return "narrowing"
    if source == target:
        return "none"
    exact = holds_all(target, source)
    if any(casts_back(node, subject.flow)):
        return "removable pair" if exact else "lossy pair"
    return "widening" if exact else "narrowing"
