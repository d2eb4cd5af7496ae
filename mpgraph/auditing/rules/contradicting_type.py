"""MPG504: declared types and shapes that nodes do not produce."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.rule import Found, Rule
from mpgraph.schema import type_of

__all__ = ["RULE"]


def _search(context: Context) -> Iterator[Found]:
    flow = context.subject.flow
    for scope, node in context.subject.nodes():
        function = scope.function
        if function is not None and function.identifier() in flow.polymorphic:
            continue
        for value in node.outputs:
            declared, found = type_of(value.type), flow.type(value)
            if declared is not None and found is not None and declared != found:
                yield Found(
                    finding="value_info contradicts inference",
                    evidence=f"declared {declared}, computed {found}",
                    suggestion="write what is computed with --fix",
                    value=value,
                    severity="error",
                )
                continue
            shape, dims = ir.declared_dims(value), flow.shapes.get(value)
            if shape is not None and dims is not None and ir.contradict(shape, dims):
                yield Found(
                    finding="value_info contradicts inference",
                    evidence=f"declared {list(shape)}, computed {list(dims)}",
                    suggestion="write what is computed with --fix",
                    value=value,
                )


RULE = Rule(
    code="MPG504",
    kind="contradicting-type",
    title="value_info that contradicts inference",
    severity="warning",
    explanation="""
The model declares a type or shape of a value that the node which writes it cannot produce. A wrong
type is an error: onnxruntime refuses to load the model. A wrong shape is a warning there, and
misleads every tool that reads it.

Example: a tool has made a MatMul float16 and left the value_info of its result at float32.

--fix writes the inferred type and shape.
""",
    search=_search,
    fix="correct-types",
)
