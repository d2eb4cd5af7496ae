"""Which values of a graph are held as quantized numbers: the cut that moves the fewest bytes.

Nodes that multiply are why values are quantized at all: the time that they save counts as bytes.
What lies between them is free: an Add, a pooling or a Transpose may take and give quantized numbers
where the target has a kernel for it, or stay in float between a DequantizeLinear and a
QuantizeLinear. Both cost memory traffic, so that the same minimum cut that places casts places
these (`mpgraph.analysis.cut`), with ``uint8`` standing for quantized.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mpgraph import ir
from mpgraph.analysis import Traffic, place
from mpgraph.analysis.cost import Edge
from mpgraph.policy import QuantizationMode
from mpgraph.quant.placement.demand import Candidate, Demand
from mpgraph.quant.placement.fusions import float_fusions
from mpgraph.quant.placement.idle import without_idle
from mpgraph.quant.placement.packing import is_drawn_in
from mpgraph.quant.placement.savings import anchor_savings

__all__ = ["Region", "Role", "clipped", "find_region"]

_FLOAT, _QUANTIZED = ir.DataType.FLOAT, ir.DataType.UINT8
_FIXED_FLOAT, _FIXED_QUANTIZED = 0, 1


@dataclass(frozen=True, slots=True)
class Role:
    """What a node does with quantized numbers.

    Attributes:
        node: The node.
        kind: ``anchor`` multiplies quantized operands, ``carrier`` has a kernel with scales of its
            own, ``mover`` hands numbers on as they are, ``clipper`` vanishes into the quantization
            of its result.
        operands: The operands that are activations.
        quantizes_result: Whether its result must be quantized for it to fuse.
        may_quantize_result: Whether its result may be quantized by the same kernel.
    """

    node: ir.Node
    kind: str
    operands: tuple[int, ...]
    quantizes_result: bool = False
    may_quantize_result: bool = False


@dataclass
class Region:
    """The quantized part of one graph.

    Attributes:
        readers: For each quantized value, the operands and graph outputs that read it.
        computed: Quantized values whose producer fuses with their QuantizeLinear; the others are
            float, and quantized besides.
        sources: For a value that must have the scale of another, that one.
        carriers: The free nodes that take and give quantized numbers.
        anchors: The nodes that multiply quantized operands; the others would save less than the
            conversions around them cost.
    """

    readers: dict[ir.Value, list[tuple[ir.Node, int]]] = field(default_factory=dict)
    outputs: dict[ir.Value, list[int]] = field(default_factory=dict)
    computed: set[ir.Value] = field(default_factory=set)
    sources: dict[ir.Value, ir.Value] = field(default_factory=dict)
    carriers: list[Role] = field(default_factory=list)
    anchors: set[ir.Node] = field(default_factory=set)


def find_region(
    graph: ir.Graph,
    mode: QuantizationMode,
    anchors: Mapping[ir.Node, Candidate],
    demand: Demand,
    counts: Mapping[ir.Value, int],
    overhead: int,
) -> Region:
    """Choose the values of one graph that are held as numbers of one format.

    Args:
        graph: The graph; what it captures from outside counts as float.
        mode: The mode of the anchors; nodes of another one stay outside.
        anchors: The nodes of it that multiply quantized operands.
        demand: What decides.
        counts: How many elements each value holds.
        overhead: Cost of one more kernel on the target, in bytes.
    """
    roles = {role.node: role for role in _roles(graph, mode, anchors, demand)}

    def found(savings: Mapping[ir.Node, int]) -> Region:
        return _place(_Layout(graph, roles, counts, demand, savings), overhead)

    region = found(anchor_savings(anchors, demand, counts))
    if region.anchors or not anchors or demand.kept:
        return region
    # Where no node gains, the smaller file is all that is asked for.
    return found({})


def _place(layout: _Layout, overhead: int) -> Region:
    start = [_FLOAT] * len(layout.elements)
    start[_FIXED_QUANTIZED] = _QUANTIZED
    allowed = [frozenset({_FLOAT, _QUANTIZED})] * len(layout.elements)
    allowed[_FIXED_FLOAT], allowed[_FIXED_QUANTIZED] = frozenset({_FLOAT}), frozenset({_QUANTIZED})
    traffic = Traffic(tuple(layout.elements), tuple(layout.edges()), overhead)
    labels = place(traffic, start, allowed)
    return layout.region(without_idle(labels, traffic.edges, _QUANTIZED, layout.multiplying))


def _roles(
    graph: ir.Graph,
    mode: QuantizationMode,
    anchors: Mapping[ir.Node, Candidate],
    demand: Demand,
) -> Iterable[Role]:
    rules, whole = demand.rules, float_fusions(graph, demand)
    fused = rules.fuses(mode.activation_dtype or "int8")
    for node in graph:
        if node in anchors:
            yield _anchor(anchors[node], demand, fused=fused)
        elif not fused or node in whole or node in demand.kept:
            continue
        elif node.domain in ("", "ai.onnx") and demand.mode(node) == mode:
            if node.op_type in rules.carriers:
                yield from _carrier(node, demand)
            elif node.op_type in rules.movers and _moves_known(node, demand):
                yield Role(node, "mover", (0,))
            elif node.op_type in rules.clippers and _is_clipper(node, demand):
                yield Role(node, "clipper", (0,))


def _anchor(candidate: Candidate, demand: Demand, *, fused: bool) -> Role:
    """What does not fuse reads quantized operands, and its result stays as it is."""
    node, operands = candidate.node, candidate.operands
    activations: tuple[int, ...] = (operands.activation,)
    if candidate.weight is None:
        activations = (operands.activation, operands.weight)
    needs = node.op_type in demand.rules.results or is_drawn_in(node, demand)
    wants = fused and needs and demand.has_range(clipped(node))
    return Role(node, "anchor", activations, wants, fused)


def _carrier(node: ir.Node, demand: Demand) -> Iterable[Role]:
    """A carrier needs the ranges of its result and of all operands; constants have theirs."""
    operands = tuple(
        index
        for index, value in enumerate(node.inputs)
        if value is not None and demand.flow.dtype(value) in ir.FLOATS
    )
    computed = tuple(index for index in operands if demand.constant(node.inputs[index]) is None)
    if (
        computed
        and demand.may_round(clipped(node))
        and not any(node.inputs[index] in demand.harmful for index in computed)
        and demand.flow.dtype(node.outputs[0]) == _FLOAT
    ):
        yield Role(node, "carrier", computed, True)


def _moves_known(node: ir.Node, demand: Demand) -> bool:
    """Whether a node moves float32 numbers of which the range is known where they come from."""
    value, mode = node.inputs[0], demand.mode(node)
    if any(one in demand.harmful for one in (value, *node.outputs)):
        return False
    while value is not None and not demand.has_range(value):
        producer = value.producer()
        if producer is None or producer.op_type not in demand.rules.movers:
            return False
        if demand.mode(producer) != mode:
            return False
        value = producer.inputs[0]
    return value is not None and demand.flow.dtype(value) == _FLOAT


def _is_clipper(node: ir.Node, demand: Demand) -> bool:
    return all(value is None or demand.constant(value) is not None for value in node.inputs[1:])


def clipped(node: ir.Node) -> ir.Value:
    """The result of a node, behind the Relu or Clip that alone reads it."""
    value = node.outputs[0]
    uses = list(value.uses())
    if len(uses) != 1 or value.is_graph_output():
        return value
    reader = uses[0].node
    return reader.outputs[0] if reader.op_type in ("Relu", "Clip") else value


class _Layout:
    """Cells for the cut: one per free node, one per free result of an anchor.

    Attributes:
        elements: The elements that each cell moves.
        multiplying: The cells of nodes that multiply.
    """

    def __init__(
        self,
        graph: ir.Graph,
        roles: Mapping[ir.Node, Role],
        counts: Mapping[ir.Value, int],
        demand: Demand,
        savings: Mapping[ir.Node, int],
    ) -> None:
        self._graph = graph
        self._roles = roles
        self._counts = counts
        self._demand = demand
        self._savings = savings
        self.elements: list[int] = [0, 0]
        self.multiplying: set[int] = {_FIXED_QUANTIZED}
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
        touched = [*(node.inputs[index] for index in role.operands), *node.outputs]
        computes = role.kind == "carrier" or node.op_type in ("MaxPool", "Resize")
        saves = not computes or not self._demand.rules.carriers_as_slow
        moved = sum(self._counts.get(value, 1) for value in touched if value is not None)
        cell = self._new(moved if saves else 0)
        self._own[node] = cell
        for value in node.outputs:
            self._results[value] = cell

    def _anchor(self, node: ir.Node) -> int:
        if node not in self._savings:
            return _FIXED_QUANTIZED
        cell = self._new(self._savings[node])
        self.multiplying.add(cell)
        return cell

    def _result_of(self, role: Role, anchor: int) -> int:
        node = role.node
        if role.quantizes_result:
            return anchor
        if not role.may_quantize_result or not self._demand.may_round(clipped(node)):
            return _FIXED_FLOAT
        return self._new(self._counts.get(node.outputs[0], 1))

    def _add_clipper(self, node: ir.Node) -> None:
        """A Relu or Clip that alone reads the result of another node is part of that node."""
        value = node.inputs[0]
        if value is None or len(list(value.uses())) != 1 or value.is_graph_output():
            return
        producer = value.producer()
        role = None if producer is None else self._roles.get(producer)
        if value in self._results and role is not None and role.kind in ("anchor", "carrier"):
            self._results[node.outputs[0]] = self._results[value]
            self._inside.add(value)

    def _new(self, elements: int) -> int:
        self.elements.append(elements)
        return len(self.elements) - 1

    def _values(self) -> Iterable[ir.Value]:
        """The values that may become quantized: floats that are not so already."""
        found = [*self._graph.inputs, *(value for node in self._graph for value in node.outputs)]
        for value in found:
            if value in self._inside or self._demand.flow.dtype(value) not in ir.FLOATS:
                continue
            if not self._demand.is_quantized(value):
                yield value

    def _takers(self, value: ir.Value) -> list[tuple[ir.Node, int, int]]:
        """Who reads a value: the node, the operand, and the cell that it is in."""
        found = []
        for use in value.uses():
            role = self._roles.get(use.node)
            cell = _FIXED_FLOAT
            if role is not None and use.node.graph is self._graph and use.idx in role.operands:
                cells = self._anchors if role.kind == "anchor" else self._own
                cell = cells.get(use.node, _FIXED_FLOAT)
            found.append((use.node, use.idx, cell))
        return found

    def edges(self) -> Iterable[Edge]:
        """Every value that can be quantized, with its producer and takers."""
        for value in self._values():
            takers = {cell for _, _, cell in self._takers(value)}
            if value.is_graph_output():
                takers.add(_FIXED_FLOAT)
            producer = self._results.get(value, _FIXED_FLOAT)
            yield Edge(self._counts.get(value, 1), producer, tuple(sorted(takers)))

    def region(self, found: Sequence[ir.DataType]) -> Region:
        """The quantized values under a labelling."""
        labels = list(found)
        region = Region()
        for node, cell in self._anchors.items():
            if labels[cell] == _QUANTIZED:
                region.anchors.add(node)
            else:
                # Only what is computed on quantized numbers writes them at no cost.
                labels[self._results[node.outputs[0]]] = _FLOAT
        for node, cell in self._own.items():
            if labels[cell] == _QUANTIZED:
                role = self._roles[node]
                region.carriers.append(role)
                if role.kind == "mover":
                    source = node.inputs[0]
                    if source is not None:
                        region.sources.update((value, source) for value in node.outputs)
        for value in self._values():
            computed = labels[self._results.get(value, _FIXED_FLOAT)] == _QUANTIZED
            takers = self._takers(value)
            read = [
                (node, index)
                for node, index, cell in takers
                if labels[cell] == _QUANTIZED or (computed and node.graph is self._graph)
            ]
            if computed:
                region.computed.add(value)
            if read or computed:
                region.readers[value] = read
        for index, value in enumerate(self._graph.outputs):
            if value in region.computed:
                region.outputs.setdefault(value, []).append(index)
        return region
