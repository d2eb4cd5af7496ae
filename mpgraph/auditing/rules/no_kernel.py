"""MPG401: nodes that the target cannot run."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.promises import promises
from mpgraph.auditing.rules.rule import Found, Rule
from mpgraph.targets import Support

__all__ = ["RULE"]


def _search(context: Context) -> Iterator[Found]:
    # A session that was created has a kernel for every node.
    if context.placement is not None or context.target is None:
        return
    for node, promise in promises(context):
        if promise.support is Support.NONE:
            fact = context.facts[node]
            yield Found(
                finding=f"node without a kernel on {context.target.name}",
                evidence=f"{node.op_type} in {fact.dtype or 'unknown types'}",
                suggestion=f"compute {context.subject.describe(node)} in float32, for which there "
                "mostly is one, or choose another target",
                value=node.outputs[0] if node.outputs else None,
                node=node,
            )


RULE = Rule(
    code="MPG401",
    kind="no-kernel",
    title="node without a kernel on the target",
    severity="error",
    explanation="""
Neither the execution provider nor the CPU provider behind it has a kernel for a node with these
types and this opset: onnxruntime refuses to load the model.

Example: a bfloat16 MatMul on the CPU provider; no casts are put around it, as they are for float16.

Asked of the installed provider, else of a shipped table of its kernels. Only said with --target.
mpgraph convert --target T never makes such a node.
""",
    search=_search,
)
