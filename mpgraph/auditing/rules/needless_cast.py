"""MPG203: casts to the dtype that a value has."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]


def _search(context: Context) -> Iterator[Found]:
    for cast in context.casts:
        if cast.effect == "none":
            node = context.nodes[cast.key]
            yield Found(
                finding="cast to the dtype that the value has",
                evidence=f"{cast.source} -> {cast.target}",
                suggestion="remove it with --fix",
                value=node.outputs[0],
                node=node,
            )


RULE = Rule(
    code="MPG203",
    kind="needless-cast",
    title="cast to the dtype that a value has",
    severity="note",
    explanation="""
A Cast writes the dtype that it reads. onnxruntime removes it when it loads the model; other
runtimes may copy the value.

Example: the .float() of a module that was exported in float32.

--fix lets its readers take its operand.
""",
    search=_search,
    fix="remove-cast-pairs",
)
