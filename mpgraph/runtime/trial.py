"""Does a dtype really run on a target here? One MatMul tells."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from mpgraph import ir
from mpgraph.errors import MpgraphError
from mpgraph.runtime.placement import node_placement
from mpgraph.runtime.sessions import create_session, run

__all__ = ["Trial", "try_dtype"]

_NUMPY = {
    ir.DataType.FLOAT: np.float32,
    ir.DataType.FLOAT16: np.float16,
    ir.DataType.BFLOAT16: ml_dtypes.bfloat16,
}
_SIDE = 16
_TOLERANCE = 0.05
_LONGEST = 160


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of running a MatMul.

    Attributes:
        dtype: The dtype of its operands and its result.
        ran: Whether the target's provider ran it in that dtype, with the right result.
        problem: What happened otherwise, as a phrase.
    """

    dtype: str
    ran: bool
    problem: str


def try_dtype(target: str, dtype: ir.DataType) -> Trial:
    """Multiply two 16 x 16 matrices in float32, float16 or bfloat16 on a target.

    A registered kernel is no proof: a device can lack the dtype all the same.
    """
    problem = _problem(target, dtype)
    return Trial(ir.dtype_name(dtype), not problem, problem)


def _problem(target: str, dtype: ir.DataType) -> str:
    values = np.linspace(-1, 1, _SIDE * _SIDE).reshape(_SIDE, _SIDE).astype(_NUMPY[dtype])
    feed = {"a": values, "b": values}
    try:
        placement = node_placement(_matmul(dtype), target)
        if placement.elsewhere:
            return f"it runs on {', '.join(placement.elsewhere[0].providers)}"
        if placement.inserted_casts:
            return "casts are put around the float32 kernel"
        got = run(create_session(_matmul(dtype), target=target), feed)["y"]
    except MpgraphError as error:
        return f"{error.rule[:_LONGEST]}..." if len(error.rule) > _LONGEST else error.rule
    wide = values.astype(np.float64)
    if not np.allclose(got.astype(np.float64), wide @ wide, atol=_TOLERANCE):
        return "the result is wrong"
    return ""


def _matmul(dtype: ir.DataType) -> ir.Model:
    type_, shape = ir.TensorType(dtype), ir.Shape([_SIDE, _SIDE])
    inputs = [ir.Value(name=name, type=type_, shape=shape) for name in ("a", "b")]
    output = ir.Value(name="y", type=type_, shape=shape)
    node = ir.Node("", "MatMul", inputs, outputs=[output], name="matmul")
    graph = ir.Graph(inputs, [output], nodes=[node], opset_imports={"": 21}, name="trial")
    return ir.Model(graph, ir_version=10)
