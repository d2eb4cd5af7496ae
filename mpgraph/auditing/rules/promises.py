"""What the kernels of the target promise for each node."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.auditing.context import Context
from mpgraph.runtime.placement.expected import Expected, expected_providers

__all__ = ["promises"]


def promises(context: Context) -> Iterator[tuple[ir.Node, Expected]]:
    """Every node with what is expected of it; nothing without a target."""
    if context.target is None:
        return
    expected = expected_providers(context.subject.model, context.target)
    for (_, node), promise in zip(context.subject.nodes(), expected, strict=True):
        yield node, promise
