"""Element-wise nodes that a provider fuses with their float neighbours when they are left alone.

A residual Add with the normalisation behind it, the steps of a Gelu or of a normalisation that an
exporter wrote out, the bias behind a product: each is one kernel in float. In 8 bits they would be
several, and each would round again.
"""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.quant.placement.demand import Demand

__all__ = ["float_fusions"]

_NORMALIZATIONS = frozenset(
    ["GroupNormalization", "InstanceNormalization", "LayerNormalization", "RMSNormalization"]
)
_STEPS = frozenset(["Add", "Div", "Mul", "Pow", "Sqrt", "Sub"])
_SMOOTHING = "smooth-activations"
"""The pass whose Mul makes a range narrower: rounding before it would be too soon."""

_GELU, _NORMALIZATION = 3, 4
"""How many steps follow the Erf or Tanh, and the Sqrt."""


def float_fusions(graph: ir.Graph, demand: Demand) -> set[ir.Node]:
    """The nodes of a graph that are best left in float; none where the target does not say so.

    Args:
        graph: The graph.
        demand: What decides.
    """
    found: set[ir.Node] = set()
    if not demand.rules.fuses_float:
        return found
    for node in graph:
        if node.domain != "":
            continue
        if node.op_type in _NORMALIZATIONS:
            found.update(_adds_before(node.inputs[0], demand))
        elif node.op_type in ("Erf", "Tanh"):
            found.update(_steps_behind(node, _GELU))
            found.update(_steps_before(node.inputs[0], demand))
        elif node.op_type == "Sqrt":
            found.update(_steps_behind(node, _NORMALIZATION))
        elif node.op_type == "ReduceMean":
            found.update(_adds_before(_normalized(node), demand))
        elif _is_bias(node, demand) or _keeps_extents(node) or _is_smoothing(node):
            found.add(node)
    return found


def _adds_before(value: ir.Value | None, demand: Demand) -> Iterator[ir.Node]:
    """The residual Add that computes a value, and the biases that go into it."""
    node = None if value is None else value.producer()
    if node is None or node.op_type != "Add":
        return
    yield node
    for operand in node.inputs:
        before = None if operand is None else operand.producer()
        if before is not None and before.op_type == "Add" and _has_constant(before, demand):
            yield before


def _steps_behind(node: ir.Node, count: int) -> Iterator[ir.Node]:
    """The chain of element-wise nodes behind a node, each the only reader of the one before."""
    for _ in range(count):
        uses = list(node.outputs[0].uses())
        if len(uses) != 1 or uses[0].node.op_type not in _STEPS:
            return
        node = uses[0].node
        yield node


def _steps_before(value: ir.Value | None, demand: Demand) -> Iterator[ir.Node]:
    """The scaling before an Erf, and the bias before that."""
    node = None if value is None else value.producer()
    while node is not None and node.op_type in _STEPS and _has_constant(node, demand):
        yield node
        computed = [one for one in node.inputs if demand.constant(one) is None]
        node = computed[0].producer() if computed and computed[0] is not None else None


def _normalized(mean: ir.Node) -> ir.Value | None:
    """What is normalised where a node takes its mean; None where nothing subtracts the mean."""
    value = mean.inputs[0]
    readers = [use.node for use in mean.outputs[0].uses()]
    return value if any(one.op_type == "Sub" and value in one.inputs for one in readers) else None


def _is_bias(node: ir.Node, demand: Demand) -> bool:
    """Whether an Add adds a constant to the product with a constant that it alone reads."""
    if node.op_type != "Add" or not _has_constant(node, demand):
        return False
    for value in node.inputs:
        producer = None if value is None else value.producer()
        if producer is not None and producer.op_type == "MatMul":
            return demand.constant(producer.inputs[1]) is not None
    return False


def _keeps_extents(node: ir.Node) -> bool:
    """Whether a node is a Reshape to a shape that may come from the extents of what it reads."""
    if node.op_type != "Reshape" or node.inputs[0] is None:
        return False
    return any(use.node.op_type == "Shape" for use in node.inputs[0].uses())


def _is_smoothing(node: ir.Node) -> bool:
    return (ir.origin(node) or ("",))[0] == _SMOOTHING


def _has_constant(node: ir.Node, demand: Demand) -> bool:
    return any(demand.constant(value) is not None for value in node.inputs)
