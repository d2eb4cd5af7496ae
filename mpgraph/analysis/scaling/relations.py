"""How a power of two runs through an operator: the homogeneous, linear and bilinear ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mpgraph import ir
from mpgraph.analysis.moves import MOVES_ELEMENTS

__all__ = ["LARGEST_EPSILON_EXPONENT", "Relation", "relation"]

IsConstant = Callable[[ir.Value], bool]

LARGEST_EPSILON_EXPONENT = 40
"""Up to here an epsilon of 1e-12 times 2^-2k is a normal float32 number."""


@dataclass(frozen=True, slots=True)
class Relation:
    """Which operands of a node may be scaled, and what follows for its results.

    With a factor or factors the results have the sum of the factors' exponents, without any they
    have the exponent of ``with_result``. Operands that are not named are taken unscaled.

    Attributes:
        factors: Operands that are no constants and of which the result is a product.
        constant_factor: A constant operand that takes the difference between operand and result.
        divides: Whether ``constant_factor`` is a divisor.
        with_result: Operands that are taken at the exponent of the results.
        with_factor: Constant operands that are taken at the exponent of the factor.
        absorbs: Whether the result does not depend on the scale of operand 0.
        epsilon: The attribute that is added to squares of the operand; empty where there is none.
    """

    factors: tuple[int, ...] = ()
    constant_factor: int | None = None
    divides: bool = False
    with_result: tuple[int, ...] = ()
    with_factor: tuple[int, ...] = ()
    absorbs: bool = False
    epsilon: str = ""


_FIRST_OPERAND = MOVES_ELEMENTS | {
    "AveragePool",
    "CumSum",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "LeakyRelu",
    "MaxPool",
    "PRelu",
    "ReduceL1",
    "ReduceL2",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceSum",
    "Relu",
    "TopK",
    "Trilu",
    "Upsample",
}
"""f(a x) = a f(x) for a > 0 in operand 0; the others hold shapes, indices or slopes."""

_ALL_OPERANDS = frozenset(["Add", "Concat", "Max", "Mean", "Min", "Sub", "Sum"])
_SOME_OPERANDS: Mapping[str, tuple[int, ...]] = {
    "Where": (1, 2),
    "ScatterElements": (0, 2),
    "ScatterND": (0, 2),
}
_PRODUCTS: Mapping[tuple[str, str], tuple[int, ...]] = {
    ("", "Mul"): (),
    ("", "MatMul"): (),
    ("", "Gemm"): (2,),
    ("", "Conv"): (2,),
    ("", "ConvTranspose"): (2,),
    ("com.microsoft", "FusedMatMul"): (),
}
"""Operators that multiply operands 0 and 1, with the operands that they add to the product."""

_NORMALIZATIONS = frozenset(
    ["LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization"]
)
_INVARIANT = frozenset(["ArgMax", "ArgMin", "IsNaN", "NonZero", "Shape", "Sign", "Size"])
_FLOAT = 1
"""The number of float32 in ``stash_type``."""


def relation(node: ir.Node, is_constant: IsConstant) -> Relation | None:
    """How a power of two runs through ``node``; None where it does not.

    Args:
        node: Any node.
        is_constant: Whether a value is a float constant of known content.
    """
    if (node.domain, node.op_type) in _PRODUCTS:
        return _product(node, _PRODUCTS[node.domain, node.op_type], is_constant)
    if node.op_type in _NORMALIZATIONS:
        return _normalization(node)
    if node.domain != "":
        return None
    if node.op_type in _INVARIANT:
        return Relation(absorbs=True)
    if node.op_type in _FIRST_OPERAND:
        return Relation(with_result=(0,))
    if node.op_type in _ALL_OPERANDS:
        return Relation(with_result=tuple(range(len(node.inputs))))
    if node.op_type in _SOME_OPERANDS:
        return _scattered(node)
    special = _SPECIAL.get(node.op_type)
    return None if special is None else special(node, is_constant)


def _product(node: ir.Node, added: tuple[int, ...], is_constant: IsConstant) -> Relation | None:
    present = tuple(index for index in added if _operand(node, index) is not None)
    constant = [index for index in (0, 1) if _is_constant(node, index, is_constant)]
    if len(constant) == 2:
        return None
    if not constant:
        return Relation(factors=(0, 1), with_result=present)
    (factor,) = constant
    return Relation(factors=(1 - factor,), constant_factor=factor, with_result=present)


def _normalization(node: ir.Node) -> Relation | None:
    stash = node.attributes.get("stash_type")
    if stash is not None and (stash.is_ref() or stash.as_int() != _FLOAT):
        return None
    given = node.attributes.get("epsilon")
    if given is not None and given.is_ref():
        return None
    if any(value.uses() or value.is_graph_output() for value in node.outputs[1:]):
        return None
    return Relation(absorbs=True, epsilon="epsilon")


def _scattered(node: ir.Node) -> Relation | None:
    reduction = node.attributes.get("reduction")
    if reduction is not None and (reduction.is_ref() or reduction.as_string() == "mul"):
        return None
    return Relation(with_result=_SOME_OPERANDS[node.op_type])


def _division(node: ir.Node, is_constant: IsConstant) -> Relation | None:
    if _is_constant(node, 1, is_constant):
        return Relation(factors=(0,), constant_factor=1, divides=True)
    return Relation(with_result=(0,))


def _clip(node: ir.Node, is_constant: IsConstant) -> Relation | None:
    if {"min", "max"} & set(node.attributes):
        return None
    return Relation(with_result=tuple(range(len(node.inputs))))


def _pad(node: ir.Node, is_constant: IsConstant) -> Relation | None:
    fill = node.attributes.get("value")
    if fill is not None and (fill.is_ref() or fill.as_float() != 0):
        return None
    return Relation(with_result=(0, 2) if _operand(node, 2) is not None else (0,))


def _resize(node: ir.Node, is_constant: IsConstant) -> Relation | None:
    mode = node.attributes.get("coordinate_transformation_mode")
    if mode is not None and (mode.is_ref() or mode.as_string() == "tf_crop_and_resize"):
        return None
    return Relation(with_result=(0,))


def _batch_normalization(node: ir.Node, is_constant: IsConstant) -> Relation | None:
    training = node.attributes.get("training_mode")
    if training is not None and (training.is_ref() or training.as_int()):
        return None
    if len(node.outputs) > 1 or not all(
        _is_constant(node, index, is_constant) for index in range(1, len(node.inputs))
    ):
        return None
    return Relation(factors=(0,), constant_factor=1, with_result=(2,), with_factor=(3,))


def _dropout(node: ir.Node, is_constant: IsConstant) -> Relation | None:
    return Relation(with_result=(0,)) if len(node.inputs) < 3 else None


_SPECIAL: Mapping[str, Callable[[ir.Node, IsConstant], Relation | None]] = {
    "BatchNormalization": _batch_normalization,
    "Clip": _clip,
    "Div": _division,
    "Dropout": _dropout,
    "Pad": _pad,
    "Resize": _resize,
}


def _operand(node: ir.Node, index: int) -> ir.Value | None:
    return node.inputs[index] if index < len(node.inputs) else None


def _is_constant(node: ir.Node, index: int, is_constant: IsConstant) -> bool:
    value = _operand(node, index)
    return value is not None and is_constant(value)
