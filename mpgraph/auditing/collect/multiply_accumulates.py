"""How many multiplications with an addition a node does for one inference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from mpgraph import ir
from mpgraph.analysis import TypeFlow

__all__ = ["multiply_accumulates"]

_CONTRIB = "com.microsoft"
_Rule = Callable[[ir.Node, TypeFlow], int | None]


def multiply_accumulates(node: ir.Node, flow: TypeFlow) -> int | None:
    """The multiply-accumulates of a node; None for operators that do none, or unknown shapes.

    Unknown leading extents, a batch or a sequence, count as 1; unknown extents that are summed
    over, or of images, make the number unknown.
    """
    rule = _RULES.get((node.domain, node.op_type))
    return None if rule is None else rule(node, flow)


def _dims(node: ir.Node, index: int, flow: TypeFlow) -> ir.Dims | None:
    value = node.inputs[index] if index < len(node.inputs) else None
    if value is None:
        return None
    constant = ir.constant_tensor(value)
    if constant is not None:
        return tuple(int(extent) for extent in constant.shape.numpy())
    return flow.shape(value)


def _count(extents: Sequence[int | str | None]) -> int:
    return prod(extent if isinstance(extent, int) and extent > 0 else 1 for extent in extents)


def _matmul(first: int = 0, second: int = 1) -> _Rule:
    def rule(node: ir.Node, flow: TypeFlow) -> int | None:
        a, b = _dims(node, first, flow), _dims(node, second, flow)
        if a is None or b is None or not a or not b:
            return None
        # A vector is a row on the left, a column on the right.
        summed = a[-1] if isinstance(a[-1], int) else b[max(0, len(b) - 2)]
        if not isinstance(summed, int):
            return None
        rows = a[-2] if len(a) > 1 else 1
        columns = b[-1] if len(b) > 1 else 1
        batch = max(_count(a[:-2]), _count(b[:-2]))
        return batch * _count((rows,)) * _count((columns,)) * summed

    return rule


def _gemm(first: int = 0, second: int = 1) -> _Rule:
    def rule(node: ir.Node, flow: TypeFlow) -> int | None:
        a, b = _dims(node, first, flow), _dims(node, second, flow)
        if a is None or b is None or len(a) != 2 or len(b) != 2:
            return None
        rows, summed = reversed(a) if _is_set(node, "transA") else a
        other, columns = reversed(b) if _is_set(node, "transB") else b
        known = summed if isinstance(summed, int) else other
        return _count((rows, columns)) * known if isinstance(known, int) else None

    return rule


def _is_set(node: ir.Node, name: str) -> bool:
    attribute = node.attributes.get(name)
    return attribute is not None and not attribute.is_ref() and bool(attribute.value)


def _convolution(weight: int = 1) -> _Rule:
    def rule(node: ir.Node, flow: TypeFlow) -> int | None:
        kernel, result = _dims(node, weight, flow), flow.shape(node.outputs[0])
        return _per_element(kernel, result)

    return rule


def _transposed_convolution(node: ir.Node, flow: TypeFlow) -> int | None:
    """Each element of the input meets the whole kernel of its channel."""
    return _per_element(_dims(node, 1, flow), _dims(node, 0, flow))


def _per_element(kernel: ir.Dims | None, image: ir.Dims | None) -> int | None:
    """Every element of an image with batch and channels meets what one channel has of a kernel."""
    if kernel is None or image is None or len(image) < 2:
        return None
    known = [extent for extent in (*kernel[1:], *image[1:]) if isinstance(extent, int)]
    if len(known) != len(kernel) + len(image) - 2:
        return None
    return _count(image[:1]) * prod(known)


def _recurrent(node: ir.Node, flow: TypeFlow) -> int | None:
    """W and R, of all gates and directions, meet each element of the sequence and batch."""
    sequence, weights = _dims(node, 0, flow), _dims(node, 1, flow)
    recurrence = _dims(node, 2, flow)
    if sequence is None or weights is None or recurrence is None:
        return None
    known = [extent for extent in (*weights, *recurrence) if isinstance(extent, int)]
    if len(known) != len(weights) + len(recurrence):
        return None
    return _count(sequence[:2]) * (prod(known[: len(weights)]) + prod(known[len(weights) :]))


def _blockwise(node: ir.Node, flow: TypeFlow) -> int | None:
    """MatMulNBits: its weight is packed, its shape stands in attributes."""
    a, summed, columns = _dims(node, 0, flow), node.attributes.get("K"), node.attributes.get("N")
    if a is None or summed is None or columns is None or summed.is_ref() or columns.is_ref():
        return None
    return _count(a[:-1]) * int(summed.as_int()) * int(columns.as_int())


_RULES: Mapping[tuple[str, str], _Rule] = {
    ("", "Conv"): _convolution(),
    ("", "ConvInteger"): _convolution(),
    ("", "ConvTranspose"): _transposed_convolution,
    ("", "DeformConv"): _convolution(),
    ("", "GRU"): _recurrent,
    ("", "Gemm"): _gemm(),
    ("", "LSTM"): _recurrent,
    ("", "MatMul"): _matmul(),
    ("", "MatMulInteger"): _matmul(),
    ("", "QLinearConv"): _convolution(3),
    ("", "QLinearMatMul"): _matmul(0, 3),
    ("", "RNN"): _recurrent,
    (_CONTRIB, "DynamicQuantizeLSTM"): _recurrent,
    (_CONTRIB, "DynamicQuantizeMatMul"): _matmul(),
    (_CONTRIB, "FusedConv"): _convolution(),
    (_CONTRIB, "FusedGemm"): _gemm(),
    (_CONTRIB, "FusedMatMul"): _matmul(),
    (_CONTRIB, "MatMulIntegerToFloat"): _matmul(),
    (_CONTRIB, "MatMulNBits"): _blockwise,
    (_CONTRIB, "QGemm"): _gemm(0, 3),
    (_CONTRIB, "QLinearConv"): _convolution(3),
}
