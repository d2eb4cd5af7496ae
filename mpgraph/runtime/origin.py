"""Where the float values of a model come from: the node, its operator and the dtype."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mpgraph import ir
from mpgraph.analysis.dtype_flow import infer_types
from mpgraph.runtime.differences import Difference
from mpgraph.runtime.float8 import FLOAT8

__all__ = ["Origin", "float_values", "with_origin"]


@dataclass(frozen=True, slots=True)
class Origin:
    """What computes a value, and the dtype that the value has."""

    node: str
    op_type: str
    dtype: str


def float_values(model: ir.Model) -> dict[str, Origin]:
    """The float values that nodes of the main graph compute, by name, in order."""
    flow = infer_types(model)
    found = {}
    for node in model.graph:
        for output in node.outputs:
            dtype = flow.dtype(output)
            if output.name and dtype is not None and (dtype in ir.FLOATS or dtype in FLOAT8):
                origin = Origin(node.name or "", node.op_type, ir.dtype_name(dtype))
                found[output.name] = origin
    return found


def with_origin(
    difference: Difference, a: Mapping[str, Origin], b: Mapping[str, Origin]
) -> Difference:
    """The difference with what is known of its value in both models."""
    one, other = a.get(difference.name), b.get(difference.name)
    if one is None:
        return difference
    return replace(
        difference,
        node=one.node,
        op_type=one.op_type,
        dtype_a=one.dtype,
        dtype_b=other.dtype if other is not None else "",
    )
