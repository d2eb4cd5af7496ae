"""MPG503: weights that are inputs of the model as well."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]


def _search(context: Context) -> Iterator[Found]:
    for value in context.subject.model.graph.inputs:
        if value.is_initializer():
            yield Found(
                finding="initializer is also an input",
                evidence="its weight is only a default, which a caller may replace",
                suggestion="remove the input with --fix, unless callers do replace it",
                value=value,
            )


RULE = Rule(
    code="MPG503",
    kind="initializer-input",
    title="initializer that is also an input",
    severity="note",
    explanation="""
A weight is listed among the inputs of the model. From IR version 4 on that makes it a default that
callers may replace, so that runtimes fold nothing that depends on it and a conversion keeps its
dtype. Before, every weight had to be listed, and old exporters still do it.

Example: a BatchNormalization that is not fused into the Conv before it because its statistics are
inputs.

--fix removes the input and keeps the weight. Do not fix it where callers give another value.
""",
    search=_search,
    fix="drop-initializer-inputs",
)
