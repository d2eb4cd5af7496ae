"""Which operands and results of a node follow when the node's precision changes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from mpgraph import ir
from mpgraph.analysis.dtype_flow import TypeFlow
from mpgraph.schema import (
    FLOAT_TYPES,
    OUTPUT_TYPES,
    TYPE_ATTRIBUTES,
    Operator,
    element_type,
    lookup,
    tensor,
    with_element_type,
)

__all__ = ["NodeVariables", "likeness", "node_variables"]


@dataclass(frozen=True, slots=True)
class NodeVariables:
    """The type variables of one node.

    Attributes:
        dtype: The float dtype in which the node works now; None if no float variable can change.
        following: The type variables that take another dtype when the node does.
        operands: Per operand, its type variable; None if the operand is bound to a fixed type.
        results: The indices of the outputs that follow.
        any_dtype: The indices of operands that may have any float dtype, whatever the node's is.
    """

    dtype: ir.DataType | None
    following: frozenset[str]
    operands: tuple[str | None, ...]
    results: frozenset[int]
    any_dtype: frozenset[int] = frozenset()


_NOTHING: frozenset[int] = frozenset()
_ANY_FLOAT = frozenset(tensor(dtype) for dtype in FLOAT_TYPES)


def node_variables(
    node: ir.Node,
    flow: TypeFlow,
    imports: Mapping[str, int],
    only: frozenset[str] | None = None,
) -> NodeVariables:
    """Find the type variables of ``node`` that can change together.

    Args:
        node: The node.
        flow: The types of the model's values.
        imports: The opsets in force where the node stands.
        only: If given, no other variable follows.

    The node's dtype is that of its first float operand bound to a type variable. All variables of
    that dtype follow; an output follows when its type does so by the schema or by the operator's
    own rule. An operator without a schema follows in nothing.
    """
    operator = lookup(node.domain, node.op_type, ir.opset_of(node.domain, imports))
    if operator is None:
        return NodeVariables(None, frozenset(), (None,) * len(node.inputs), _NOTHING)
    variables = tuple(_variable(operator, index) for index in range(len(node.inputs)))
    if _is_retypable(node):
        return _retypable(node, flow, operator, variables)
    dtypes = {
        variable: dtype
        for value, variable in reversed(list(zip(node.inputs, variables, strict=True)))
        if variable is not None and (dtype := flow.dtype(value)) in FLOAT_TYPES
    }
    first = next((dtypes[variable] for variable in variables if variable in dtypes), None)
    if first is None:
        return NodeVariables(None, frozenset(), variables, _NOTHING)
    following = frozenset(variable for variable, dtype in dtypes.items() if dtype == first)
    following = following if only is None else following & only
    results = _following_results(node, flow, operator, variables, following, first)
    return NodeVariables(first, following, variables, results)


def likeness(node: ir.Node, flow: TypeFlow, imports: Mapping[str, int]) -> Hashable:
    """Equal for nodes with the same ``node_variables``; None where attributes have a say."""
    operator = node.domain, node.op_type
    if operator in OUTPUT_TYPES or operator in TYPE_ATTRIBUTES:
        return None
    return (
        operator,
        ir.opset_of(node.domain, imports),
        flow.each_type(node.inputs),
        flow.each_type(node.outputs),
    )


def _variable(operator: Operator, index: int) -> str | None:
    formal = operator.input(index)
    if formal is None or formal.type not in operator.variables or not formal.homogeneous:
        return None
    return formal.type


def _is_retypable(node: ir.Node) -> bool:
    name = TYPE_ATTRIBUTES.get((node.domain, node.op_type))
    if name is None:
        return (node.domain, node.op_type) == ("", "ConstantOfShape")
    attribute = node.attributes.get(name)
    if attribute is None:
        return not node.inputs
    return not attribute.is_ref()


def _retypable(
    node: ir.Node, flow: TypeFlow, operator: Operator, variables: tuple[str | None, ...]
) -> NodeVariables:
    """A node whose output dtype is an attribute: only the output changes.

    An operand that the schema does not allow in every float dtype keeps the one it has.
    """
    everything = frozenset(
        index
        for index, variable in enumerate(variables)
        if variable is None or operator.variables[variable] >= _ANY_FLOAT
    )
    dtype = flow.dtype(node.outputs[0])
    if dtype not in FLOAT_TYPES:
        return NodeVariables(None, frozenset(), variables, _NOTHING, everything)
    return NodeVariables(dtype, frozenset(), variables, frozenset({0}), everything)


def _following_results(
    node: ir.Node,
    flow: TypeFlow,
    operator: Operator,
    variables: Sequence[str | None],
    following: frozenset[str],
    dtype: ir.DataType,
) -> frozenset[int]:
    rule = OUTPUT_TYPES.get((node.domain, node.op_type))
    ruled: Sequence[str | None] = ()
    if rule is not None:
        probe = next(other for other in (ir.DataType.FLOAT16, ir.DataType.FLOAT) if other != dtype)
        operands = [flow.type(value) for value in node.inputs]
        retyped = [
            with_element_type(known, probe) if known and variable in following else known
            for known, variable in zip(operands, variables, strict=True)
        ]
        ruled = rule(node, retyped, {})
    results = set()
    for index, value in enumerate(node.outputs):
        if flow.dtype(value) != dtype:
            continue
        known = ruled[index] if index < len(ruled) else None
        formal = operator.output(index)
        if known is not None:
            if element_type(known) != dtype:
                results.add(index)
        elif formal is not None and formal.type in following:
            results.add(index)
    return frozenset(results)
