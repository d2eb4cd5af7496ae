"""MPG402: nodes that fall back to another provider, or to another dtype."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.promises import promises
from mpgraph.auditing.rules.rule import Found, Rule
from mpgraph.targets import Support

__all__ = ["RULE"]

_ELSEWHERE = frozenset({Support.CAST_AROUND, Support.FALLBACK})


def _search(context: Context) -> Iterator[Found]:
    if context.target is None:
        return
    for node, promise in promises(context):
        if promise.support not in _ELSEWHERE:
            continue
        fact = context.facts[node]
        if fact.placement in ("folded", "removed"):
            continue
        if fact.placement and fact.provider == context.target.provider != promise.provider:
            continue
        yield Found(
            finding=f"node without a kernel of its own on {context.target.name}",
            evidence=f"{node.op_type} in {fact.dtype or 'unknown types'}: {promise.reason}",
            suggestion="compute it and its neighbours in float32, or choose another target",
            value=node.outputs[0] if node.outputs else None,
            node=node,
        )


RULE = Rule(
    code="MPG402",
    kind="runs-elsewhere",
    title="node that falls back to another provider or dtype",
    severity="note",
    explanation="""
The execution provider has no kernel for a node with these types. The node still runs: on the CPU
provider, with copies to and from the device; or, in float16 on the CPU, as a float32 kernel between
two casts. Both cost time that the low dtype was to save.

Example: a float16 MatMul on an x86 CPU is a float32 MatMul and three casts.

Only said with --target.
""",
    search=_search,
)
