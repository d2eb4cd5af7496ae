"""The scaling and shifting before and behind nodes that multiply, as far as it is theirs alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mpgraph import ir
from mpgraph.quant.affine.maps import Affine, FindConstant, affine_of
from mpgraph.quant.affine.multiplier import Multiplier

__all__ = ["Agree", "Chain", "Shared", "find_before", "find_behind"]

Agree = Callable[[ir.Node, ir.Node], bool]
"""Whether a node (the second) may become part of another one."""


@dataclass(frozen=True)
class Chain:
    """Nodes behind a multiplier that only scale and shift its result.

    Attributes:
        nodes: The nodes, in order.
        affine: What they do together.
    """

    nodes: tuple[ir.Node, ...]
    affine: Affine


@dataclass(frozen=True)
class Shared:
    """A node that scales and shifts what multipliers read.

    Attributes:
        node: The node.
        value: What it reads.
        affine: What it does.
        readers: All that read its result.
    """

    node: ir.Node
    value: ir.Value
    affine: Affine
    readers: tuple[Multiplier, ...]


def find_behind(multiplier: Multiplier, find: FindConstant, agree: Agree) -> Chain | None:
    """What alone reads the result of a multiplier and only scales and shifts it.

    None where there is nothing to gain: a single Add behind a MatMul is its bias already.
    """
    nodes: list[ir.Node] = []
    steps: list[Affine] = []
    value = multiplier.node.outputs[0]
    while (reader := _only_reader(value)) is not None and agree(multiplier.node, reader):
        step = affine_of(reader, value, multiplier.written, find)
        if step is None:
            break
        nodes.append(reader)
        steps.append(step)
        value = reader.outputs[0]
    while nodes and nodes[-1].op_type == "Identity":
        nodes.pop()
        steps.pop()
    if not nodes or (
        multiplier.node.op_type == "MatMul" and [one.op_type for one in nodes] == ["Add"]
    ):
        return None
    affine = steps[0]
    for step in steps[1:]:
        affine = affine.then(step)
    factor = multiplier.weight_factor(affine.scale, reads=False)
    return Chain(tuple(nodes), affine) if multiplier.fits(factor) else None


def find_before(
    node: ir.Node,
    multipliers: Mapping[ir.Node, Multiplier | None],
    find: FindConstant,
    agree: Agree,
) -> Shared | None:
    """The scaling and shifting that a node does for multipliers alone.

    A Mul or Div before a MatMul is left: it may be the end of a normalisation that the target
    computes as one.
    """
    if node.op_type not in ("Add", "BatchNormalization", "Div", "Mul", "Sub"):
        return None
    result = node.outputs[0]
    uses = list(result.uses())
    if not uses or result.is_graph_output() or _completes_gelu(node):
        return None
    readers = []
    for use in uses:
        reader = multipliers.get(use.node)
        if reader is None or use.idx != 0 or use.node.graph is not node.graph:
            return None
        if not agree(use.node, node):
            return None
        if not reader.convolves and node.op_type != "BatchNormalization":
            return None
        readers.append(reader)
    for value in node.inputs:
        if value is None or find(value) is not None:
            continue
        affine = affine_of(node, value, readers[0].read, find)
        if affine is None or not all(_takes(one, affine) for one in readers):
            return None
        return Shared(node, value, affine, tuple(readers))
    return None


def _takes(reader: Multiplier, affine: Affine) -> bool:
    adds = reader.node.op_type == "MatMul" and reader.node.outputs[0].is_graph_output()
    if affine.shifts and (adds or not reader.takes_shift):
        return False
    return reader.fits(reader.weight_factor(affine.scale, reads=True))


def _only_reader(value: ir.Value) -> ir.Node | None:
    """The node that alone reads a value, in the graph of the one that computes it."""
    producer, reader = value.producer(), ir.only_reader(value)
    if producer is None or reader is None or reader.graph is not producer.graph:
        return None
    return reader


def _completes_gelu(node: ir.Node) -> bool:
    """Whether a node halves the product of a decomposed Gelu, which the target computes as one."""
    for product in _producers(node, "Mul"):
        for shifted in _producers(product, "Add"):
            if any(True for _ in _producers(shifted, "Erf")):
                return True
    return False


def _producers(node: ir.Node, op_type: str) -> list[ir.Node]:
    producers = (None if value is None else value.producer() for value in node.inputs)
    return [one for one in producers if one is not None and one.op_type == op_type]
