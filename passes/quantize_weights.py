"""Store weights as quantized numbers where activations stay as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types
from mpgraph.passmgr import Facts, Pass
from mpgraph.quant import PlannedNode, QuantizationPlan
from mpgraph.quant.rewriting import WeightStore, Writer, pending, read_dequantized
from mpgraph.schema import integer
from passes.optimize_weights import RoundedWeights

__all__ = ["QuantizeWeights"]


@dataclass(frozen=True)
class QuantizeWeights(Pass):
    """Put a DequantizeLinear before each operand whose constant the plan quantizes alone.

    Rows of an embedding table are gathered as they are stored: what is dequantized is the rows,
    each with its own scale, and not the table.
    """

    name: ClassVar[str] = "quantize-weights"
    requires: ClassVar[tuple[type, ...]] = (QuantizationPlan,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Carry out the weight-only part of the plan."""
        plan = facts.get(QuantizationPlan)
        chosen = pending(plan, "weights", "rows")
        if not chosen:
            return False
        ir.import_default_domain(model)
        rounded = facts.find(RoundedWeights) or RoundedWeights()
        rewriter = _Rewriter(model, plan, infer_types(model), rounded)
        for planned, node in chosen:
            if planned.form == "rows":
                rewriter.gather_rows(planned, node)
            else:
                rewriter.dequantize(planned, node)
        rewriter.store.remove_unread()
        return True


def _untransposed(node: ir.Node) -> tuple[int, ...]:
    """The order of axes in which a Gemm needs no transposition, which would keep it from fusing."""
    if node.op_type != "Gemm" or not integer(node, "transB", 0, {}):
        return ()
    node.attributes["transB"] = ir.AttrInt64("transB", 0)
    return (1, 0)


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
        self._writer = Writer(model, QuantizeWeights.name)
        self.store = WeightStore(self._writer, rounded.by_reader)

    def dequantize(self, planned: PlannedNode, node: ir.Node) -> None:
        """Let a node read its weights through a DequantizeLinear each."""
        order, rule = _untransposed(node), f"weight of {planned.mode}"
        for index, value in enumerate(node.inputs):
            plan = self._plan.by_reader.get(f"{planned.key}:{index}")
            if plan is None or value is None or node.graph is None:
                continue
            dtype = self._flow.dtype(value) or ir.DataType.FLOAT
            stored = self.store.store(node.graph, value, plan, dtype, order=order)
            read_dequantized(self._writer, node, index, stored, dtype, rule=rule)

    def gather_rows(self, planned: PlannedNode, node: ir.Node) -> None:
        """Gather rows of quantized numbers, and their scales, and multiply them."""
        table, rows, graph = node.inputs[0], node.inputs[1], node.graph
        if table is None or rows is None or graph is None:
            raise ValueError(f"{ir.describe(node)}: it lacks an operand")
        dtype = self._flow.dtype(table) or ir.DataType.FLOAT
        stored = self.store.store(graph, table, self._plan.by_reader[f"{planned.key}:0"], dtype)
        name = node.outputs[0].name or "rows"
        rule = f"rows of {planned.mode}"
        integers = ir.parse_dtype(self._plan.by_reader[f"{planned.key}:0"].dtype)
        (gathered,) = self._writer.before(
            node, "Gather", [stored.values, rows], [(f"{name}_quantized", integers)], rule=rule
        )
        (factors,) = self._writer.before(
            node, "Gather", [stored.scale, rows], [(f"{name}_scales", dtype)], rule=rule
        )
        last = self._writer.constant(graph, f"{name}_last_axis", ir.tensor(np.array([-1])))
        (scale,) = self._writer.before(
            node, "Unsqueeze", [factors, last], [(f"{name}_scale", dtype)], rule=rule
        )
        (cast,) = self._writer.before(
            node,
            "Cast",
            [gathered],
            [(f"{name}_cast", dtype)],
            [ir.AttrInt64("to", int(dtype))],
            rule=rule,
        )
        (product,) = self._writer.before(
            node, "Mul", [cast, scale], [(f"{name}_rows", dtype)], rule=rule
        )
        self._writer.replace(node, product)
