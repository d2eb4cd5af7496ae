"""MPG501: nodes of one graph with the same name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]


def _search(context: Context) -> Iterator[Found]:
    for scope in context.subject.scopes:
        counts = Counter(node.name for node in scope.graph if node.name)
        seen: set[str] = set()
        for node in scope.graph:
            name = node.name or ""
            if counts[name] < 2 or name in seen:
                continue
            seen.add(name)
            yield Found(
                finding="duplicate node name",
                evidence=f"{counts[name]} nodes are named {name!r}",
                suggestion="give each a name of its own with --fix",
                node=node,
            )


RULE = Rule(
    code="MPG501",
    kind="duplicate-node-name",
    title="duplicate node name",
    severity="error",
    explanation="""
Several nodes of one graph have the same name. onnxruntime refuses to load such a model; other
runtimes may not mind, but tools that know nodes by name (exclusions, profiles, Netron, Model
Explorer) then speak of all of them or of any.

Example: --nodes-to-exclude Conv_1 keeps two nodes in float32.

--fix numbers the second and further ones.
""",
    search=_search,
    fix="name-nodes",
)
