"""Which provider took which node, as onnxruntime recorded it while it made the session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["RECORD", "AssignedNode", "foreign_nodes", "read_assignment", "words_for"]

RECORD = ("session.record_ep_graph_assignment_info", "1")
"""The session config entry without which nothing is recorded."""

_SHOWN = 6


@dataclass(frozen=True, slots=True)
class AssignedNode:
    """One node of the graph that was handed out to the providers.

    Attributes:
        name: Its name then; empty if it has none.
        op_type: Its operator.
        provider: The provider that took it.
        group: The number of the piece of the graph that it was taken with; a provider that
            compiles makes one kernel of a piece.
    """

    name: str
    op_type: str
    provider: str
    group: int


def read_assignment(session: InferenceSession) -> tuple[AssignedNode, ...]:
    """The nodes that the providers of a session took, in the order of the record.

    This is before onnxruntime inserts Cast and Memcpy nodes, and before fusions that belong to one
    provider; nodes that were folded away earlier are not in it.
    """
    source: Any = session
    return tuple(
        AssignedNode(node.name, node.op_type, piece.ep_name, group)
        for group, piece in enumerate(source.get_provider_graph_assignment_info())
        for node in piece.get_nodes()
    )


def foreign_nodes(assigned: Sequence[AssignedNode], provider: str) -> tuple[AssignedNode, ...]:
    """The nodes that another provider took."""
    return tuple(node for node in assigned if node.provider != provider)


def words_for(nodes: Sequence[AssignedNode]) -> str:
    """The first few nodes in words: ``a (Conv), b (Add) and 3 more``."""
    named = ", ".join(f"{node.name or 'unnamed'} ({node.op_type})" for node in nodes[:_SHOWN])
    rest = len(nodes) - _SHOWN
    return f"{named} and {rest} more" if rest > 0 else named
