"""MPG502: nodes without a name."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]


def _search(context: Context) -> Iterator[Found]:
    for scope in context.subject.scopes:
        unnamed = [node for node in scope.graph if not node.name]
        if unnamed:
            yield Found(
                finding="empty node name",
                evidence=f"{len(unnamed)} of {len(scope.graph)} nodes of {scope.path}",
                suggestion="give each a name with --fix",
                node=unnamed[0],
            )


RULE = Rule(
    code="MPG502",
    kind="unnamed-node",
    title="empty node name",
    severity="note",
    explanation="""
Nodes have no name. That is valid, but exclusions, profiles and pictures of the model cannot speak
of them. Said once per graph, at the first of them.

Example: a profile of onnxruntime that lists MatMul_12, which is in no file.

--fix names them after their operators.
""",
    search=_search,
    fix="name-nodes",
)
