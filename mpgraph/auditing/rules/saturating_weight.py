"""MPG304: 8-bit weights whose products saturate on CPUs without VNNI."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.analysis.compute_dtype import QUANTIZED_OPERANDS
from mpgraph.auditing.context import Context
from mpgraph.auditing.finding import Severity
from mpgraph.auditing.rules.rule import Found, Rule
from mpgraph.targets.device import cpu_features

__all__ = ["RULE"]

_BITS = 64
"""Magnitude of seven bits."""

_MATRIX = frozenset({"Conv", "Gemm", "MatMul"})


def _search(context: Context) -> Iterator[Found]:
    if context.target is not None and context.target.name != "cpu":
        return
    severity = _severity()
    seen: set[ir.Value] = set()
    for _, node in context.subject.nodes():
        activation, weight = _integers(node)
        if activation is None or weight is None or weight in seen:
            continue
        flow, found = context.subject.flow, context.weights.ranges.get(weight)
        if flow.dtype(activation) != ir.DataType.UINT8 or flow.dtype(weight) != ir.DataType.INT8:
            continue
        if found is None or (found.minimum >= -_BITS and found.maximum < _BITS):
            continue
        seen.add(weight)
        yield Found(
            finding="weight range saturates on CPUs without VNNI",
            evidence=f"int8 weights from {found.minimum:.0f} to {found.maximum:.0f} meet uint8",
            suggestion="quantize weights to 7 bits (reduce_range), or run such CPUs with the "
            "session setting session.x64quantprecision=1",
            value=weight,
            node=node,
            severity=severity,
        )


def _severity() -> Severity:
    features = cpu_features() or frozenset()
    saturates = "avx2" in features and features.isdisjoint({"avx512_vnni", "avx_vnni"})
    return "warning" if saturates else "note"


def _integers(node: ir.Node) -> tuple[ir.Value | None, ir.Value | None]:
    """The quantized activation and weight that a node multiplies; None where it has none."""
    places = QUANTIZED_OPERANDS.get((node.domain, node.op_type))
    if places is not None and places[0] > 0:
        return node.inputs[0], node.inputs[places[0]]
    if node.domain != "" or node.op_type not in _MATRIX:
        return None, None
    return _dequantized(node.inputs[0]), _dequantized(node.inputs[1])


def _dequantized(value: ir.Value | None) -> ir.Value | None:
    node = None if value is None else value.producer()
    return node.inputs[0] if node is not None and node.op_type == "DequantizeLinear" else None


RULE = Rule(
    code="MPG304",
    kind="saturating-weight",
    title="weight range that saturates on CPUs without VNNI",
    severity="note",
    explanation="""
On x86 CPUs with AVX2 or AVX-512 but without VNNI, two products of uint8 activations and int8
weights are added in 16 bits, which saturate: 255 x 127 x 2 is more than 32767. Results are then
wrong, not just imprecise, and only there.

Example: a model quantized on a new server runs wrong on a laptop of 2017.

Quantize weights to 7 bits (-64 to 63), use uint8 weights there, or set session.x64quantprecision to
1, as sessions of mpgraph do on such a CPU. Here it is a warning where this machine is such a one,
else a note.
""",
    search=_search,
)
