"""Sums of products one term at a time, every product and every sum rounded to float16."""

from __future__ import annotations

import numpy as np

from mpgraph import ir
from mpgraph.runtime.stepwise.steps import Steps

__all__ = ["gemm", "matmul", "summed_product"]

_BOOL, _FLOAT16, _INT64 = ir.DataType.BOOL, ir.DataType.FLOAT16, ir.DataType.INT64


def matmul(steps: Steps, a: ir.Value, b: ir.Value, rank_b: int | None) -> ir.Value:
    """MatMul of ``a [..., M, K]`` and ``b [..., K, N]``, either of which may be a vector.

    Args:
        steps: Where to write.
        a, b: The operands.
        rank_b: The rank of ``b``; taken for more than 1 where it is unknown.
    """
    return summed_product(steps, a, b, 0 if rank_b == 1 else -2)


def gemm(steps: Steps, a: ir.Value, b: ir.Value, c: ir.Value | None) -> ir.Value:
    """Gemm: alpha times the product, plus beta times ``c``, each step rounded."""
    if _attribute(steps, "transA", 0):
        a = steps.op("Transpose", a, perm=[1, 0])
    if _attribute(steps, "transB", 0):
        b = steps.op("Transpose", b, perm=[1, 0])
    alpha, beta = _attribute(steps, "alpha", 1), _attribute(steps, "beta", 1)
    result = summed_product(steps, a, b, -2)
    if alpha != 1:
        result = steps.op("Mul", steps.number(alpha), result)
    if c is None:
        return result
    if beta != 1:
        c = steps.op("Mul", steps.number(beta), c)
    return steps.op("Add", result, c)


def summed_product(steps: Steps, a: ir.Value, b: ir.Value, axis_b: int) -> ir.Value:
    """The matrix product of two values, summed up in a Loop over K from its first term on.

    A MatMul of K = 1 is the exact product of one column and one row.

    Args:
        steps: Where to write.
        a: The first operand; its last axis is K.
        b: The second operand.
        axis_b: Its axis K.
    """
    extents = steps.shape_of(steps.op("MatMul", a, b))
    zero = ir.AttrTensor("value", ir.tensor(np.zeros(1, np.float16)))
    start = steps.op("ConstantOfShape", extents, attributes={"value": zero})
    last = steps.array(np.array(-1, np.int64))
    count = steps.op("Gather", steps.shape_of(a), last, dtype=_INT64, axis=0)
    number, going = (steps.value(dtype, ir.Shape(())) for dtype in (_INT64, _BOOL))
    total = steps.value(_FLOAT16)
    body = ir.Graph([number, going, total], [], nodes=[], name=f"{steps.node.name}.sum")
    term = steps.inside(body)
    place = term.op("Reshape", number, term.integers([1]), dtype=_INT64)
    column = term.op("Gather", a, place, axis=-1)
    row = term.op("Gather", b, place, axis=axis_b)
    next_total = term.op("Add", total, term.op("MatMul", column, row))
    body.outputs.extend((term.op("Identity", going, dtype=_BOOL), next_total))
    loop = {"body": ir.AttrGraph("body", body)}
    return steps.op("Loop", count, None, start, attributes=loop)


def _attribute(steps: Steps, name: str, default: float) -> float:
    attribute = steps.node.attributes.get(name)
    return default if attribute is None else float(attribute.value)
