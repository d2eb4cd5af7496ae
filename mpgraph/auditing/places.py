"""Where the nodes of an audited model run, or that they do not."""

from __future__ import annotations

from collections.abc import Mapping

from mpgraph.auditing.report import AuditReport
from mpgraph.auditing.rules import no_kernel

__all__ = ["node_places"]

_NOWHERE = "no kernel"


def node_places(report: AuditReport) -> Mapping[str, str]:
    """For each node by its key the provider, else what became of it, else that nothing runs it.

    Nodes of which nothing is known are left out: no target was asked for, or its kernels do not
    tell.
    """
    lost = {one.key: _NOWHERE for one in report.hazards if one.code == no_kernel.RULE.code}
    told = ((node.key, node.provider or node.placement) for node in report.nodes)
    return lost | {key: place for key, place in told if place}
