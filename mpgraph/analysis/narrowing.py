"""Keep some type variables of a node out of its precision change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mpgraph import ir
from mpgraph.analysis.cells import Cell, CellGraph, Site
from mpgraph.analysis.dtype_flow import TypeFlow
from mpgraph.analysis.node_variables import node_variables

__all__ = ["narrow"]


def narrow(
    graph: CellGraph, flow: TypeFlow, following: Mapping[ir.Node, frozenset[str]]
) -> CellGraph:
    """Return ``graph`` with fewer type variables following.

    Args:
        graph: The cells.
        flow: The types of the model's values.
        following: For each node to narrow, the type variables that still follow its cell; what is
            bound to its other variables keeps the dtype it has.
    """
    if not following:
        return graph
    results = dict(graph.results)
    operands = dict(graph.operands)
    for scope in graph.scopes:
        for node in scope.graph:
            if node not in following:
                continue
            found = node_variables(node, flow, scope.opset_imports, only=following[node])
            operands[node] = [
                cell
                if cell is None or variable in found.following
                else _fixed(graph, flow, value, cell)
                for value, variable, cell in zip(
                    node.inputs, graph.variables[node], operands[node], strict=True
                )
            ]
            for index, value in enumerate(node.outputs):
                dtype = flow.dtype(value)
                if value in results and index not in found.results and dtype is not None:
                    results[value] = graph.fixed[dtype]
    cells = tuple(_narrowed_cell(cell, following) for cell in graph.cells)
    return replace(graph, cells=cells, results=results, operands=operands)


def _fixed(graph: CellGraph, flow: TypeFlow, value: ir.Value | None, otherwise: int) -> int:
    dtype = flow.dtype(value)
    return otherwise if dtype is None else graph.fixed[dtype]


def _narrowed_cell(cell: Cell, following: Mapping[ir.Node, frozenset[str]]) -> Cell:
    if not any(node in following for node in cell.nodes):
        return cell
    return replace(cell, sites=tuple(_narrowed_site(site, following) for site in cell.sites))


def _narrowed_site(site: Site, following: Mapping[ir.Node, frozenset[str]]) -> Site:
    if site.kind != "node" or site.node is None or site.node not in following:
        return site
    return site._replace(variables=following[site.node])
