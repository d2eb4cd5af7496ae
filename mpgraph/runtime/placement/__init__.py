"""Where every node of a model runs: observed in a session, mapped back, compared with the plan."""

from mpgraph.runtime.placement.observe import node_placement, observed_placement
from mpgraph.runtime.placement.result import Kernel, NodePlacement, Placement

__all__ = ["Kernel", "NodePlacement", "Placement", "node_placement", "observed_placement"]
