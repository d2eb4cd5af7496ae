"""A model of which some float16 operators are written out in steps."""

from __future__ import annotations

from collections.abc import Mapping

from mpgraph import ir
from mpgraph.analysis.dtype_flow import infer_types
from mpgraph.errors import VerificationError
from mpgraph.runtime.retype import as_identity
from mpgraph.runtime.stepwise.convolution import convolution
from mpgraph.runtime.stepwise.functions import FUNCTIONS
from mpgraph.runtime.stepwise.products import gemm, matmul
from mpgraph.runtime.stepwise.steps import Steps
from mpgraph.targets import Arithmetic

__all__ = ["in_steps"]

_SUMS = frozenset({"Conv", "Gemm", "MatMul"})
# From here on Pad, Slice, Loop and negative axes are as the steps use them.
_OPSET = 11


def in_steps(model: ir.Model, arithmetic: Arithmetic) -> ir.Model:
    """The model with its float16 operators as ``arithmetic`` computes them.

    What was one operator becomes float16 nodes before an Identity that gives its output; each of
    them rounds once, as emulation has it. MatMul, Gemm and Conv become loops over their terms.

    Args:
        model: A model without local functions. It may be rewritten in place.
        arithmetic: How a provider computes.

    Raises:
        ConversionError: The model cannot be brought to opset 11, which the steps need.
        VerificationError: The extents of the weights of a Conv are not known.
    """
    operators = _operators(arithmetic)
    if not _found(model, operators):
        return model
    if (ir.opset_of("", model.opset_imports) or _OPSET) < _OPSET:
        model = ir.version_convert(model, _OPSET)
    shapes = ir.infer_shapes(model)
    namer = ir.Namer(model)
    for node in _found(model, operators):
        steps = Steps(node, namer)
        result = _written_out(steps, shapes)
        node.replace_input_with(0, result)
        as_identity(node)
    return model


def _operators(arithmetic: Arithmetic) -> frozenset[str]:
    sums = _SUMS if arithmetic.accumulator == ir.DataType.FLOAT16 else frozenset()
    return sums | (arithmetic.stepwise & FUNCTIONS.keys())


def _found(model: ir.Model, operators: frozenset[str]) -> list[ir.Node]:
    flow = infer_types(model)
    return [
        node
        for node in ir.nodes(model)
        if node.domain == ""
        and node.op_type in operators
        and flow.dtype(node.outputs[0]) == ir.DataType.FLOAT16
    ]


def _written_out(steps: Steps, shapes: Mapping[ir.Value, ir.Dims]) -> ir.Value:
    node = steps.node
    first, second, third = (*node.inputs, None, None, None)[:3]
    if first is None:
        raise VerificationError(ir.describe(node), "lacks its first operand")
    if node.op_type in FUNCTIONS:
        return FUNCTIONS[node.op_type](steps, first)
    if second is None:
        raise VerificationError(ir.describe(node), "lacks its second operand")
    if node.op_type == "Gemm":
        return gemm(steps, first, second, third)
    extents = shapes.get(second) or ir.declared_dims(second)
    if node.op_type == "MatMul":
        return matmul(steps, first, second, None if extents is None else len(extents))
    known = [extent for extent in extents or () if isinstance(extent, int)]
    if len(known) < 3 or len(known) != len(extents or ()):
        raise VerificationError(
            ir.describe(node),
            f"the extents of its weights {second.name!r} are not known, so that its sum cannot be "
            "written out in float16",
            "infer the shapes of the model first, or verify with the target cuda",
        )
    return convolution(steps, first, second, third, known)
