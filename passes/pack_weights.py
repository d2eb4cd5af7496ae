"""Turn products with quantized weights into MatMulNBits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types
from mpgraph.passmgr import Facts, Pass
from mpgraph.quant import PlannedNode, QuantizationPlan
from mpgraph.quant.formats import NBitsWeight, in_blocks, matmul_nbits
from mpgraph.quant.rewriting import (
    StoredWeight,
    WeightStore,
    Writer,
    add_bias,
    gemm_bias,
    matrix_weight,
    pending,
    step,
)
from mpgraph.schema import integer
from passes.optimize_weights import RoundedWeights

__all__ = ["PackWeights"]

_CONTRIB = "com.microsoft"


@dataclass(frozen=True)
class PackWeights(Pass):
    """Rewrite the MatMul and Gemm nodes whose weights the plan packs.

    Nodes that share a weight share its packed form.
    """

    name: ClassVar[str] = "pack-weights"
    requires: ClassVar[tuple[type, ...]] = (QuantizationPlan,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Carry out the packed part of the plan."""
        plan = facts.get(QuantizationPlan)
        chosen = pending(plan, "packed")
        if not chosen:
            return False
        ir.import_default_domain(model)
        rounded = facts.find(RoundedWeights) or RoundedWeights()
        rewriter = _Rewriter(model, plan, infer_types(model), rounded)
        for planned, node in chosen:
            rewriter.rewrite(planned, node)
        rewriter.store.remove_unread()
        return True


@dataclass(frozen=True)
class _Packed:
    operands: list[ir.Value]
    attributes: dict[str, int]


class _Rewriter:
    def __init__(
        self,
        model: ir.Model,
        plan: QuantizationPlan,
        flow: TypeFlow,
        rounded: RoundedWeights,
    ) -> None:
        self._plan = plan
        self._flow = flow
        self._writer = Writer(model, PackWeights.name)
        self.store = WeightStore(self._writer, rounded.by_reader)
        self._scratch = ir.Scratch()
        self._packed: dict[ir.Value, _Packed] = {}

    def rewrite(self, planned: PlannedNode, node: ir.Node) -> None:
        """Rewrite one node."""
        activation, graph = node.inputs[0], node.graph
        if activation is None or graph is None:
            raise ValueError(f"{ir.describe(node)}: it lacks an operand")
        dtype = self._flow.dtype(node.outputs[0]) or ir.DataType.FLOAT
        name = node.outputs[0].name or "product"
        if node.op_type == "Gemm" and integer(node, "transA", 0, {}):
            activation = step(self._writer, node, "Transpose", [activation], f"{name}_rows", dtype)
        packed = self._pack(planned, node, dtype)
        self._writer.import_domain(_CONTRIB, 1, graph)
        (last,) = self._writer.before(
            node,
            "MatMulNBits",
            [activation, *packed.operands],
            [(f"{name}_packed", dtype)],
            [ir.AttrInt64(name, number) for name, number in packed.attributes.items()],
            rule=f"weight of {planned.mode}",
            domain=_CONTRIB,
        )
        bias = gemm_bias(node)
        if bias is not None:
            last = add_bias(self._writer, node, last, bias, dtype)
        self._writer.replace(node, last)

    def _pack(self, planned: PlannedNode, node: ir.Node, dtype: ir.DataType) -> _Packed:
        plan = self._plan.by_reader[f"{planned.key}:1"]
        stored = matrix_weight(self.store, node, plan, dtype)
        graph = node.graph
        if graph is None:
            raise ValueError(f"{ir.describe(node)}: it belongs to no graph")
        if stored.values not in self._packed:
            self._packed[stored.values] = self._write(graph, stored, dtype)
        return self._packed[stored.values]

    def _write(self, graph: ir.Graph, stored: StoredWeight, dtype: ir.DataType) -> _Packed:
        tensor = stored.values.const_value
        if tensor is None:
            raise ValueError(f"{stored.values.name}: it is no constant")
        parameters = in_blocks(stored.quantized.parameters, tensor.shape.numpy())
        weight = matmul_nbits(tensor.numpy(), parameters)
        tensors = {
            "packed": ir.tensor(weight.packed),
            "scales": ir.tensor(weight.scale.astype(dtype.numpy()), dtype=dtype),
        }
        if weight.zero_point is not None:
            tensors["zero_points"] = ir.tensor(weight.zero_point)
        name = stored.values.name or "weight"
        operands = [
            self._writer.constant(graph, f"{name}_{part}", self._scratch.hold(tensor))
            for part, tensor in tensors.items()
        ]
        return _Packed(operands, _attributes(weight))


def _attributes(weight: NBitsWeight) -> dict[str, int]:
    return {
        "K": weight.rows,
        "N": weight.columns,
        "bits": weight.bits,
        "block_size": weight.block_size,
    }
