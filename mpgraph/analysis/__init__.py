"""Read-only analyses: dtype flow, precision cells, numeric hazards, cost and cast placement."""

from mpgraph.analysis.cell_builder import build_cells
from mpgraph.analysis.cells import Cell, CellGraph, Site
from mpgraph.analysis.cost import Traffic, measure_traffic, modelled_bytes
from mpgraph.analysis.cut import place
from mpgraph.analysis.dtype_flow import TypeFlow, infer_types
from mpgraph.analysis.flow import infer_types_and_shapes
from mpgraph.analysis.hazard import Hazard
from mpgraph.analysis.narrowing import narrow
from mpgraph.analysis.node_variables import node_variables
from mpgraph.analysis.sizes import element_counts

__all__ = [
    "Cell",
    "CellGraph",
    "Hazard",
    "Site",
    "Traffic",
    "TypeFlow",
    "build_cells",
    "element_counts",
    "infer_types",
    "infer_types_and_shapes",
    "measure_traffic",
    "modelled_bytes",
    "narrow",
    "node_variables",
    "place",
]
