"""The parts of a model that cannot be audited: unknown operators, types and function bodies."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.auditing.report import NotAudited
from mpgraph.auditing.subject import Subject
from mpgraph.schema import lookup

__all__ = ["collect_unknown"]


def collect_unknown(subject: Subject) -> tuple[NotAudited, ...]:
    """What nothing is known about, with reasons."""
    return (*_nodes(subject), *_bodies(subject), *_data(subject))


def _nodes(subject: Subject) -> Iterator[NotAudited]:
    flow = subject.flow
    for scope, node in subject.nodes():
        if node in flow.calls:
            continue
        unknown = [value.name for value in node.outputs if value.name and not flow.type(value)]
        opset = ir.opset_of(node.domain, scope.opset_imports)
        if lookup(node.domain, node.op_type, opset) is None:
            operator = f"{node.domain or 'ai.onnx'}::{node.op_type}"
            known = "the types of its results are unknown" if unknown else "declared types count"
            yield NotAudited(subject.describe(node), f"no schema of {operator}: {known}")
        elif unknown:
            yield NotAudited(
                subject.describe(node), f"the types of {', '.join(unknown[:3])} are unknown"
            )


def _bodies(subject: Subject) -> Iterator[NotAudited]:
    for identifier in sorted(subject.flow.polymorphic):
        function = subject.model.functions[identifier]
        yield NotAudited(
            ir.function_path(function),
            "it is called with several lists of types; its values have those of the first call",
        )


def _data(subject: Subject) -> Iterator[NotAudited]:
    for location, reason in subject.refused.items():
        yield NotAudited(f"external data {location}", f"not read: {reason}")
