"""How much of a range matters to those who read a value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mpgraph import ir
from mpgraph.quant.observers import Range
from mpgraph.quant.placement.constants import Constant
from mpgraph.quant.placement.demand import Demand
from mpgraph.quant.placement.operands import is_padded
from mpgraph.schema import integer

__all__ = ["useful_range"]


def useful_range(value: ir.Value, found: Range, demand: Demand) -> Range:
    """The range of a value without what a gate makes zero in any case.

    x * Clip(x + 3, 0, 6), and so what a depthwise Conv of one element makes of x in place of the
    sum, is zero for all x below -3: the lowest of these bounds is low enough.
    """
    users = list(dict.fromkeys(use.node for use in value.uses()))
    if len(users) != 2 or value.is_graph_output():
        return found
    for shift, product in (users, users[::-1]):
        lowest = _lowest(value, shift, product, demand)
        if lowest is not None and lowest < 0:
            return replace(found, low=np.maximum(found.low, lowest))
    return found


def _lowest(value: ir.Value, shift: ir.Node, product: ir.Node, demand: Demand) -> float | None:
    """Below what a value its product with the clipped, shifted value is zero."""
    clip = ir.only_reader(shift.outputs[0])
    if clip is None or clip.op_type != "Clip" or product.op_type != "Mul":
        return None
    if ir.only_reader(clip.outputs[0]) is not product or value not in product.inputs:
        return None
    floor = demand.constant(clip.inputs[1]) if len(clip.inputs) > 1 else None
    if floor is None or floor.number != 0.0:
        return None
    constants = [demand.constant(one) for one in shift.inputs]
    match shift.op_type:
        case "Add":
            added = next((one for one in constants if one is not None), None)
            return None if added is None else -float(added.tensor.numpy().max())
        case "Conv":
            return _lowest_of_conv(shift, constants)
    return None


def _lowest_of_conv(conv: ir.Node, constants: list[Constant | None]) -> float | None:
    """Likewise where a depthwise Conv of one element scales and shifts each channel."""
    if len(constants) < 3 or constants[1] is None or constants[2] is None:
        return None
    weight, bias = constants[1].tensor.numpy().reshape(-1), constants[2].tensor.numpy()
    depthwise = weight.size == bias.size == constants[1].shape[0] == integer(conv, "group", 1, {})
    if not depthwise or not np.all(weight > 0) or _moves(conv):
        return None
    return float((-bias / weight).min())


def _moves(conv: ir.Node) -> bool:
    """Whether a Conv of one element does more than multiply."""
    strides = conv.attributes.get("strides")
    return is_padded(conv) or (strides is not None and any(one != 1 for one in strides.as_ints()))
