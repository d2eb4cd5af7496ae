"""The cells of a graph for the minimum cut, and the region that the cut leaves quantized."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mpgraph import ir
from mpgraph.analysis.cost import Edge
from mpgraph.quant.placement.clipped import clipped
from mpgraph.quant.placement.demand import Demand
from mpgraph.quant.placement.prices import Price, Prices
from mpgraph.quant.placement.roles import Role

__all__ = ["FIXED_FLOAT", "FIXED_QUANTIZED", "FLOAT", "QUANTIZED", "Cells", "Region"]

FLOAT, QUANTIZED = ir.DataType.FLOAT, ir.DataType.UINT8
"""The labels of cells: ``uint8`` stands for whatever quantized numbers there are."""

FIXED_FLOAT, FIXED_QUANTIZED = 0, 1
"""The cells whose label is given."""


@dataclass
class Region:
    """The quantized part of one graph.

    Attributes:
        readers: For each quantized value, the operands that read it: nodes, and which of theirs.
        outputs: For each quantized value that the graph gives, which of its outputs it is.
        computed: Quantized values whose producer fuses with their QuantizeLinear; the others are
            float, and quantized besides.
        sources: For a value that must have the scale of another, that one.
        carriers: The free nodes that take and give quantized numbers.
        anchors: The nodes that multiply quantized operands; the others would save less than the
            conversions around them cost.
        gains: The time that they save, by the prices of the target, where it has some.
    """

    readers: dict[ir.Value, list[tuple[ir.Node, int]]] = field(default_factory=dict)
    outputs: dict[ir.Value, list[int]] = field(default_factory=dict)
    computed: set[ir.Value] = field(default_factory=set)
    sources: dict[ir.Value, ir.Value] = field(default_factory=dict)
    carriers: list[Role] = field(default_factory=list)
    anchors: set[ir.Node] = field(default_factory=set)
    gains: dict[ir.Node, int] = field(default_factory=dict)


class Cells:
    """Cells for the cut: one per free node, one per free result of an anchor.

    Attributes:
        costs: What the nodes of each cell cost.
        multiplying: The cells of nodes that multiply.
    """

    def __init__(
        self,
        graph: ir.Graph,
        roles: Mapping[ir.Node, Role],
        demand: Demand,
        anchors: Mapping[ir.Node, Price | None],
        prices: Prices,
    ) -> None:
        self._graph = graph
        self._roles = roles
        self._demand = demand
        self._priced = anchors
        self._prices = prices
        self.costs: list[Price] = [Price(0, 0), Price(0, 0)]
        self.multiplying: set[int] = {FIXED_QUANTIZED}
        self._anchors: dict[ir.Node, int] = {}
        self._own: dict[ir.Node, int] = {}
        self._results: dict[ir.Value, int] = {}
        self._inside: set[ir.Value] = set()
        for node in graph:
            self._add(node)

    def _add(self, node: ir.Node) -> None:
        role = self._roles.get(node)
        if role is None:
            return
        if role.kind == "anchor":
            self._anchors[node] = cell = self._anchor(node)
            self._results[node.outputs[0]] = self._result_of(role, cell)
            return
        if role.kind == "clipper":
            self._add_clipper(node)
            return
        if role.kind == "carrier":
            cell = self._new(self._prices.carrier(node, role.operands))
        else:
            cell = self._new(self._prices.mover(node))
        self._own[node] = cell
        for value in node.outputs:
            self._results[value] = cell

    def _anchor(self, node: ir.Node) -> int:
        price = self._priced.get(node)
        if price is None:
            return FIXED_QUANTIZED
        cell = self._new(price)
        self.multiplying.add(cell)
        return cell

    def _result_of(self, role: Role, anchor: int) -> int:
        node = role.node
        if role.quantizes_result:
            return anchor
        if not role.may_quantize_result or not self._demand.may_round(clipped(node)):
            return FIXED_FLOAT
        return self._new(self._prices.result(node.outputs[0]))

    def _add_clipper(self, node: ir.Node) -> None:
        """A Relu or Clip that alone reads the result of another node is part of that node."""
        value = node.inputs[0]
        if value is None or ir.only_reader(value) is None:
            return
        producer = value.producer()
        role = None if producer is None else self._roles.get(producer)
        if value in self._results and role is not None and role.kind in ("anchor", "carrier"):
            self._results[node.outputs[0]] = self._results[value]
            self._inside.add(value)

    def _new(self, price: Price) -> int:
        self.costs.append(price)
        return len(self.costs) - 1

    def _values(self) -> Iterator[ir.Value]:
        """The values that may become quantized: floats that are not so already."""
        for value in ir.defined_values(self._graph):
            if value in self._inside or self._demand.flow.dtype(value) not in ir.FLOATS:
                continue
            if not self._demand.is_quantized(value):
                yield value

    def _takers(self, value: ir.Value) -> list[tuple[ir.Node, int, int]]:
        """Who reads a value: the node, the operand, and the cell that it is in."""
        found = []
        for use in value.uses():
            role = self._roles.get(use.node)
            cell = FIXED_FLOAT
            if role is not None and use.node.graph is self._graph and use.idx in role.operands:
                cells = self._anchors if role.kind == "anchor" else self._own
                cell = cells.get(use.node, FIXED_FLOAT)
            found.append((use.node, use.idx, cell))
        return found

    def edges(self) -> Iterator[Edge]:
        """Every value that can be quantized: what converting it costs, its producer and takers."""
        for value in self._values():
            takers = {cell for _, _, cell in self._takers(value)}
            if value.is_graph_output():
                takers.add(FIXED_FLOAT)
            producer = self._results.get(value, FIXED_FLOAT)
            yield Edge(self._prices.conversion(value), producer, tuple(sorted(takers)))

    def _without_detours(self, found: Sequence[ir.DataType]) -> list[ir.DataType]:
        """The labels, with movers made float that only hand rounded floats on to floats.

        Bytes are saved on the way, but the values are rounded for no kernel on quantized numbers.
        """
        labels = list(found)
        movers = {node: None for node in self._own if self._roles[node].kind == "mover"}
        computed = set[ir.Value]()
        for value, cell in self._results.items():
            producer = value.producer()
            if labels[cell] == QUANTIZED and producer is not None and producer not in movers:
                computed.add(value)
        for node in movers:
            if labels[self._own[node]] == QUANTIZED and node.inputs[0] in computed:
                computed.update(node.outputs)
        for node in reversed(movers):
            cell = self._own[node]
            if labels[cell] != QUANTIZED or node.outputs[0] in computed:
                continue
            takers = [taker for value in node.outputs for _, _, taker in self._takers(value)]
            outside = any(value.is_graph_output() for value in node.outputs)
            if outside or any(labels[taker] == FLOAT for taker in takers):
                labels[cell] = FLOAT
        return labels

    def region(self, found: Sequence[ir.DataType]) -> Region:
        """The quantized values under a labelling."""
        labels = list(found)
        region = Region()
        for node, cell in self._anchors.items():
            if labels[cell] == QUANTIZED:
                region.anchors.add(node)
                price = self._priced.get(node)
                if price is not None:
                    region.gains[node] = price.floats - price.integers
            else:
                # Only what is computed on quantized numbers writes them at no cost.
                labels[self._results[node.outputs[0]]] = FLOAT
        labels = self._without_detours(labels)
        for node, cell in self._own.items():
            if labels[cell] == QUANTIZED:
                role = self._roles[node]
                region.carriers.append(role)
                if role.kind == "mover":
                    source = node.inputs[0]
                    if source is not None:
                        region.sources.update((value, source) for value in node.outputs)
        for value in self._values():
            computed = labels[self._results.get(value, FIXED_FLOAT)] == QUANTIZED
            takers = self._takers(value)
            read = [
                (node, index)
                for node, index, cell in takers
                if labels[cell] == QUANTIZED or (computed and node.graph is self._graph)
            ]
            if computed:
                region.computed.add(value)
            if read or computed:
                region.readers[value] = read
        for index, value in enumerate(self._graph.outputs):
            if value in region.computed:
                region.outputs.setdefault(value, []).append(index)
        return region
