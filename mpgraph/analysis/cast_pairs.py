"""Casts in a row: which of them lose nothing, and which bring a value back to its dtype."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import inf

from mpgraph import ir
from mpgraph.analysis.dtype_flow import TypeFlow

__all__ = ["casts_back", "holds_all", "is_cast"]

_CASTS = {("", "Cast"), ("", "CastLike")}


def is_cast(node: ir.Node) -> bool:
    """Whether a node is a Cast or CastLike."""
    return (node.domain, node.op_type) in _CASTS


def casts_back(node: ir.Node, flow: TypeFlow) -> Iterator[ir.Node]:
    """The casts right behind a cast that return to the dtype that the first has read."""
    source = flow.dtype(node.inputs[0])
    for user in _users(node.outputs[0]):
        if is_cast(user) and flow.dtype(user.outputs[0]) == source:
            yield user


def _users(value: ir.Value) -> Iterator[ir.Node]:
    """The nodes that take a value as their first operand, behind Identities too."""
    pending = [value]
    while pending:
        for use in pending.pop().uses():
            if use.idx != 0:
                continue
            if (use.node.domain, use.node.op_type) == ("", "Identity"):
                pending.append(use.node.outputs[0])
            else:
                yield use.node


@cache
def holds_all(wide: ir.DataType, narrow: ir.DataType) -> bool:
    """Whether one dtype holds every number of another; what is no number holds only itself."""
    if wide == narrow:
        return True
    if wide == ir.DataType.BOOL or not (_is_real(wide) and _is_real(narrow)):
        return False
    if narrow == ir.DataType.BOOL:
        return True
    low, high = _bounds(narrow)
    wide_low, wide_high = _bounds(wide)
    if not wide_low <= low <= high <= wide_high:
        return False
    if not wide.is_floating_point():
        return not narrow.is_floating_point()
    if not narrow.is_floating_point():
        return max(-low, high) <= 2 / ir.limits(wide).epsilon
    return (
        ir.limits(wide).epsilon <= ir.limits(narrow).epsilon
        and ir.limits(wide).smallest_subnormal <= ir.limits(narrow).smallest_subnormal
    )


def _is_real(dtype: ir.DataType) -> bool:
    return dtype.is_floating_point() or dtype.is_integer() or dtype == ir.DataType.BOOL


def _bounds(dtype: ir.DataType) -> tuple[float, float]:
    if dtype.is_floating_point():
        largest = ir.limits(dtype).max
        return -largest, largest
    if not dtype.is_integer():
        return inf, -inf
    if dtype.is_signed():
        return -(2.0 ** (dtype.bitwidth - 1)), 2.0 ** (dtype.bitwidth - 1) - 1
    return 0.0, 2.0**dtype.bitwidth - 1
