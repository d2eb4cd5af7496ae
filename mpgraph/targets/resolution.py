"""What onnxruntime does with a node of given types: kernel, expansion or inserted casts.

The order is that of onnxruntime's session initialisation: kernels are matched first (provider,
then CPU), what is left and has a function body is expanded, and only then are float16 inputs of
what is still left cast to float32 (`InsertCastTransformer`). bfloat16 gets no such casts.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from mpgraph import ir, schema
from mpgraph.targets.exceptions import BFLOAT16, DOUBLE, FLOAT16, FLOAT32, find_gap
from mpgraph.targets.kernels import KernelTable
from mpgraph.targets.support import Support

__all__ = ["on_cpu", "on_provider"]

# Loading turns each Constant node into an initializer, so it needs no kernel.
NEEDS_NO_KERNEL = frozenset({("", "Constant"), ("ai.onnx", "Constant")})

Assignment = tuple[tuple[str, str], ...]


def on_cpu(
    table: KernelTable,
    domain: str,
    op_type: str,
    opset: int,
    assignment: Mapping[str, str],
    attributes: Mapping[str, object],
) -> Support:
    """How the CPU provider runs a node: NATIVE, EXPANDED, CAST_AROUND or NONE."""
    answer = _registered(table, domain, op_type, opset, tuple(assignment.items()))
    gap = find_gap(table.provider, domain, op_type, opset, assignment, attributes, answer)
    return answer if gap is None else Support.NONE


def on_provider(
    table: KernelTable,
    fallback: KernelTable,
    domain: str,
    op_type: str,
    opset: int,
    assignment: Mapping[str, str],
    attributes: Mapping[str, object],
) -> Support:
    """How a provider with the CPU provider behind it runs a node."""
    if (domain, op_type) in NEEDS_NO_KERNEL:
        return Support.NATIVE
    if table.supports(domain, op_type, opset, assignment):
        gap = find_gap(
            table.provider, domain, op_type, opset, assignment, attributes, Support.NATIVE
        )
        return Support.NATIVE if gap is None else Support.NONE
    behind = on_cpu(fallback, domain, op_type, opset, assignment, attributes)
    if behind in (Support.EXPANDED, Support.NONE):
        return behind
    return Support.FALLBACK


@lru_cache(maxsize=65536)
def _registered(
    table: KernelTable, domain: str, op_type: str, opset: int, items: Assignment
) -> Support:
    assignment = dict(items)
    if (domain, op_type) in NEEDS_NO_KERNEL:
        return Support.NATIVE
    if table.supports(domain, op_type, opset, assignment):
        return Support.NATIVE
    if _expands(domain, op_type, opset, assignment):
        return Support.EXPANDED
    if not _has_low_input(domain, op_type, opset, assignment):
        return Support.NONE
    widened = {key: FLOAT32 if type_ == FLOAT16 else type_ for key, type_ in assignment.items()}
    if table.supports(domain, op_type, opset, widened):
        return Support.CAST_AROUND
    return Support.NONE


def _expands(domain: str, op_type: str, opset: int, assignment: Mapping[str, str]) -> bool:
    """Whether a node is replaced by a function body whose nodes can be trusted to run.

    In float32 they do, and in float16 thanks to the casts that are inserted later. The nodes of a
    body in bfloat16 or double need kernels of their own, which this does not look into: no.
    """
    if not {BFLOAT16, DOUBLE}.isdisjoint(assignment.values()):
        return False
    # Any: the stubs of onnx do not know the two properties.
    found: Any = ir.operator_schema(domain, op_type, opset)
    if found is None:
        return False
    return bool(found.has_function or found.has_context_dependent_function)


def _has_low_input(domain: str, op_type: str, opset: int, assignment: Mapping[str, str]) -> bool:
    """Whether an input is float16: a node with float16 outputs alone gets no casts."""
    low = {variable for variable, type_ in assignment.items() if type_ == FLOAT16}
    operator = schema.lookup(domain, op_type, opset)
    if operator is None:
        return bool(low)
    return any(parameter.type in low for parameter in operator.inputs)
