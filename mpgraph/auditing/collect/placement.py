"""Where the nodes of a model run on a target: observed where it is installed, else expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mpgraph.auditing.report import NotAudited
from mpgraph.auditing.subject import Subject
from mpgraph.errors import MpgraphError
from mpgraph.runtime import Placement, node_placement
from mpgraph.runtime.placement.expected import expected_providers
from mpgraph.targets import Target, find_installed, find_provider

__all__ = ["NOWHERE", "Placed", "PlacedNodes", "collect_placement", "expect_placement"]


@dataclass(frozen=True, slots=True)
class Placed:
    """Where one node runs: its provider, and what onnxruntime made of it."""

    provider: str
    state: str


NOWHERE = Placed("", "")


@dataclass(frozen=True)
class PlacedNodes:
    """Where the nodes of a model run.

    Attributes:
        nodes: By the key of the node.
        observed: What a session told; None where the kernels of the target were asked instead.
        missed: Why no session was asked, if one could have been.
    """

    nodes: Mapping[str, Placed]
    observed: Placement | None = None
    missed: tuple[NotAudited, ...] = field(default=())


def collect_placement(subject: Subject, target: Target) -> PlacedNodes:
    """Ask a session where it is installed, else the kernels that the target is known to have."""
    if find_installed(find_provider(target.provider)).missing:
        return expect_placement(subject, target)
    try:
        observed = node_placement(subject.model, target)
    except MpgraphError as error:
        missed = NotAudited("placement", f"expected, not observed: {error}")
        return PlacedNodes(expect_placement(subject, target).nodes, None, (missed,))
    nodes = {one.key: Placed(", ".join(one.providers), one.state) for one in observed.nodes}
    return PlacedNodes(nodes, observed)


def expect_placement(subject: Subject, target: Target) -> PlacedNodes:
    """What the kernels of the target promise for each node."""
    promised = expected_providers(subject.model, target)
    pairs = zip(subject.nodes(), promised, strict=True)
    return PlacedNodes(
        {subject.keys[node]: Placed(promise.provider, "") for (_, node), promise in pairs}
    )
