"""What each node of a graph can do with quantized numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from mpgraph import ir
from mpgraph.policy import QuantizationMode
from mpgraph.quant.placement.clipped import clipped, is_captured
from mpgraph.quant.placement.demand import Candidate, Demand
from mpgraph.quant.placement.fusions import float_fusions
from mpgraph.quant.placement.packing import is_drawn_in

__all__ = ["Role", "find_roles"]

_FLOAT = ir.DataType.FLOAT


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
    kind: Literal["anchor", "carrier", "clipper", "mover"]
    operands: tuple[int, ...]
    quantizes_result: bool = False
    may_quantize_result: bool = False


def find_roles(
    graph: ir.Graph,
    mode: QuantizationMode,
    anchors: Mapping[ir.Node, Candidate],
    demand: Demand,
) -> Iterator[Role]:
    """The roles of the nodes of a graph, in its order; the others compute in float.

    Args:
        graph: The graph.
        mode: The mode of the anchors; nodes of another one have no role.
        anchors: The nodes that multiply quantized operands.
        demand: What decides.
    """
    rules, whole = demand.rules, float_fusions(graph, demand)
    fused = rules.fuses(mode.activation_dtype or "int8")
    for node in graph:
        if node in anchors:
            yield _anchor(anchors[node], demand, fused=fused)
        elif not fused or node in whole or node in demand.kept or is_captured(node):
            continue
        elif node.domain == "" and demand.mode(node) == mode:
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
    free = fused and not is_captured(node)
    wants = free and needs and demand.has_range(clipped(node))
    return Role(node, "anchor", activations, wants, free)


def _carrier(node: ir.Node, demand: Demand) -> Iterator[Role]:
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
