"""Which Q/DQ nodes became part of other kernels, and which of the others are of no use."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx

from mpgraph.runtime import create_session
from tests.benchmarks.peers.measures.protos import count_nodes, node_lists, read_graph

__all__ = ["Quantizers", "integer_kernels", "look_at_quantizers", "orphans"]

_QUANTIZE, _DEQUANTIZE = "QuantizeLinear", "DequantizeLinear"
_ON_INTEGERS = ("QLinear", "QGemm", "QAttention", "QEmbed", "DynamicQuantize", "MatMulNBits")
_ON_INTEGERS_TOO = ("MatMulInteger", "ConvInteger", "GatherBlockQuantized", "QMoE")
# They hand quantized numbers on as they are.
_MOVES = frozenset(
    (
        *("Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Slice", "Gather", "Tile"),
        *("Expand", "Split", "MaxPool", "ReduceMax", "ReduceMin", "Resize", "DepthToSpace"),
        *("SpaceToDepth", "Identity", "Concat", "Pad", "Where", "NhwcMaxPool"),
    )
)


@dataclass(frozen=True)
class Quantizers:
    """Counts of one model.

    Attributes:
        q_dq: QuantizeLinear and DequantizeLinear nodes of the model.
        left: Those in the graph that onnxruntime runs.
        orphans: Those of them that stand between two floats with no kernel on integers.
        kernels: Kernels on quantized numbers in that graph.
    """

    q_dq: int
    left: int
    orphans: int
    kernels: int


def look_at_quantizers(path: Path) -> Quantizers:
    """Let onnxruntime's CPU provider optimise a model, and count what it runs."""
    with tempfile.TemporaryDirectory(prefix="mpgraph-") as folder:
        optimized = Path(folder) / "optimized.onnx"
        create_session(path, optimized_path=optimized)
        runs = read_graph(optimized)
    return Quantizers(
        count_nodes(read_graph(path), _QUANTIZE, _DEQUANTIZE),
        count_nodes(runs, _QUANTIZE, _DEQUANTIZE),
        sum(orphans(nodes) for nodes in node_lists(runs)),
        integer_kernels(node for nodes in node_lists(runs) for node in nodes),
    )


def integer_kernels(nodes: Iterable[onnx.NodeProto]) -> int:
    """How many nodes compute on quantized numbers."""
    return sum(_computes_on_integers(node.op_type) for node in nodes)


def orphans(nodes: Sequence[onnx.NodeProto]) -> int:
    """Q and DQ nodes of one graph that no kernel on integers is fed by or feeds.

    A QuantizeLinear is of use where such a kernel takes its result, maybe moved on the way; a
    DequantizeLinear where such a kernel made its operand, or rows gathered from a table are what
    it dequantizes.
    """
    producers = {name: node for node in nodes for name in node.output if name}
    consumers: dict[str, list[onnx.NodeProto]] = {}
    for node in nodes:
        for name in dict.fromkeys(node.input):
            consumers.setdefault(name, []).append(node)

    def behind(node: onnx.NodeProto) -> list[onnx.NodeProto]:
        return [user for name in node.output for user in consumers.get(name, ())]

    def before(node: onnx.NodeProto) -> list[onnx.NodeProto]:
        return [producers[name] for name in node.input[:1] if name in producers]

    count: Counter[str] = Counter()
    for node in nodes:
        if node.op_type == _QUANTIZE:
            count[_QUANTIZE] += not _reaches_kernel(node, behind)
        elif node.op_type == _DEQUANTIZE:
            gathers = any(
                one.op_type == "Gather" and one.input[0] not in producers for one in before(node)
            )
            count[_DEQUANTIZE] += not (gathers or _reaches_kernel(node, before))
    return count.total()


def _reaches_kernel(
    start: onnx.NodeProto, step: Callable[[onnx.NodeProto], list[onnx.NodeProto]]
) -> bool:
    pending, seen = step(start), set[int]()
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if _computes_on_integers(node.op_type):
            return True
        if node.op_type in _MOVES:
            pending.extend(step(node))
    return False


def _computes_on_integers(op_type: str) -> bool:
    return op_type.startswith(_ON_INTEGERS) or op_type.startswith(_ON_INTEGERS_TOO)
