"""Make one Gemm of a MatMul and the bias that is added to its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types_and_shapes
from mpgraph.passmgr import Facts, Pass
from mpgraph.policy import PolicyMap, resolve_nodes
from mpgraph.quant.placement.constants import Constant, find_constant
from mpgraph.quant.rewriting import Writer

__all__ = ["MergeBiases"]


@dataclass(frozen=True)
class MergeBiases(Pass):
    """Rewrite MatMul and Add of matrices as Gemm, as onnxruntime does when it loads a model.

    Before that, the weight and the bias are one node's, so that the bias becomes int32 in steps of
    the products; a bias that stays float would take the MatMul into a float Gemm, and leave what
    quantizes its operands behind. Merged are a MatMul with a constant weight and an Add with one
    constant number per column, which alone reads its result. What rules select stays as it is.
    """

    name: ClassVar[str] = "merge-biases"

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Merge in every graph of the model, inner ones included."""
        may_merge = _agreement(model, facts.find(PolicyMap))
        pairs = [pair for scope in ir.graphs(model) for pair in _pairs(scope.graph, may_merge)]
        if not pairs:
            return False
        flow = infer_types_and_shapes(model)
        writer = Writer(model, self.name)
        chosen = [pair for pair in pairs if _is_matrix(pair.product.inputs[0], flow)]
        for pair in chosen:
            _merge(pair, writer, flow)
        return bool(chosen)


class _Pair(NamedTuple):
    """A MatMul, the Add behind it, and what it adds."""

    product: ir.Node
    add: ir.Node
    bias: ir.Value


_MayMerge = Callable[[ir.Node, ir.Node], bool]


def _agreement(model: ir.Model, policy: PolicyMap | None) -> _MayMerge:
    """Whether two nodes have one policy, which no rule gave, and which quantizes."""
    if policy is None:
        return lambda _one, _other: True
    if policy.default.mode is None or any(rule.op for rule in policy.rules):
        return lambda _one, _other: False
    found = resolve_nodes(model, policy)
    return lambda one, other: found[one].rule is None and found[other].rule is None


def _pairs(graph: ir.Graph, may_merge: _MayMerge) -> Iterator[_Pair]:
    known: dict[ir.Value, Constant | None] = {}
    for node in graph:
        if node.op_type != "MatMul" or node.domain != "":
            continue
        (result,), uses = node.outputs, list(node.outputs[0].uses())
        if len(uses) != 1 or result.is_graph_output():
            continue
        add, index = uses[0].node, uses[0].idx
        if add.op_type != "Add" or add.graph is not graph or add.domain != "":
            continue
        bias = add.inputs[1 - index]
        weight, added = find_constant(node.inputs[1], known), find_constant(bias, known)
        if bias is None or weight is None or added is None or len(weight.shape) != 2:
            continue
        if tuple(added.shape) == (weight.shape[1],) and may_merge(node, add):
            yield _Pair(node, add, bias)


def _is_matrix(value: ir.Value | None, flow: TypeFlow) -> bool:
    shape = None if value is None else flow.shape(value)
    return shape is not None and len(shape) == 2


def _merge(pair: _Pair, writer: Writer, flow: TypeFlow) -> None:
    product, add = pair.product, pair.add
    dtype = flow.dtype(product.outputs[0]) or ir.DataType.FLOAT
    (result,) = writer.before(
        add,
        "Gemm",
        [*product.inputs, pair.bias],
        [(f"{add.outputs[0].name}_merged", dtype)],
        rule="a MatMul and an Add",
    )
    gemm, graph, name = result.producer(), product.graph, product.name
    writer.replace(add, result)
    if graph is not None:
        graph.remove(product, safe=True)
    if gemm is not None:
        gemm.name = name
