"""MPG301: Q/DQ that cost time and digits because nothing is computed between them."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.auditing.context import Context
from mpgraph.auditing.fusion import dequantizers, is_dequantizer, is_quantizer, unfused_reason
from mpgraph.auditing.rules.rule import Found, Rule
from mpgraph.runtime.quantizers import computes_on_integers

__all__ = ["RULE"]


def _search(context: Context) -> Iterator[Found]:
    """A DequantizeLinear of which no reader is fused, by a session or by the CPU's rules."""
    target = "cpu" if context.target is None else context.target.name
    if target != "cpu" or context.subject.refused:
        return
    fused = _fused_kernels(context)
    for _, node in context.subject.nodes():
        if not is_dequantizer(node):
            continue
        readers = [use.node for use in node.outputs[0].uses()]
        if not readers or any(is_quantizer(reader) or reader in fused for reader in readers):
            continue
        if _is_row_of_weights(node) or _comes_from_integers(node, context):
            continue
        if context.facts[node].placement not in ("", "kept"):
            continue
        reasons = [unfused_reason(reader, context.subject.flow) for reader in readers]
        if all(reasons):
            yield Found(
                finding=f"Q/DQ that {target} does not fuse",
                evidence=reasons[0],
                suggestion=f"leave {context.subject.describe(readers[0])} out of quantization, or "
                "quantize what stands around it too",
                value=node.outputs[0],
                node=node,
            )


def _comes_from_integers(node: ir.Node, context: Context) -> bool:
    """Whether what is dequantized was computed on integers: a reader in float needs it so."""
    quantizer = None if node.inputs[0] is None else node.inputs[0].producer()
    value = quantizer.inputs[0] if quantizer is not None and is_quantizer(quantizer) else None
    producer = None if value is None else value.producer()
    while producer is not None and producer.op_type in ("Clip", "Relu"):
        value = producer.inputs[0]
        producer = None if value is None else value.producer()
    if producer is None or not any(True for _ in dequantizers(producer)):
        return False
    return not unfused_reason(producer, context.subject.flow)


def _is_row_of_weights(node: ir.Node) -> bool:
    """Whether a node dequantizes what was gathered from a constant: a table stored in 8 bits."""
    producer = None if node.inputs[0] is None else node.inputs[0].producer()
    if producer is None or producer.op_type != "Gather" or producer.inputs[0] is None:
        return False
    return ir.constant_tensor(producer.inputs[0]) is not None


def _fused_kernels(context: Context) -> frozenset[ir.Node]:
    """The nodes that a session computes by a kernel on quantized numbers."""
    if context.placement is None:
        return frozenset()
    quantized = {
        key
        for kernel in context.placement.kernels
        if computes_on_integers(kernel.op_type)
        for key in kernel.nodes
    }
    return frozenset(node for key, node in context.nodes.items() if key in quantized)


RULE = Rule(
    code="MPG301",
    kind="unfused-quantizer",
    title="Q/DQ that the target does not fuse",
    severity="note",
    explanation="""
A value is quantized and dequantized, and the node that takes it computes in float: nothing is
gained, and digits are lost. The CPU provider computes in integers only where every operand is
dequantized from 8 bits and, for most operators, the result is quantized again; Tanh, Gelu, Sub,
Div and normalisations it never does.

Example: DequantizeLinear -> Conv without a QuantizeLinear behind it is a float Conv.

Leave such nodes out of quantization, or quantize what stands around them too. Without --target this
is said of the CPU provider by its rules; with it, what a session has fused is not reported.
""",
    search=_search,
)
