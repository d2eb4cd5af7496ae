"""Quantize the weights of LSTMs once, and what they read at every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpgraph import ir
from mpgraph.passmgr import Facts, Pass
from mpgraph.quant import PlannedNode, PlannedWeight, QuantizationPlan
from mpgraph.quant.formats import Format, Layout
from mpgraph.quant.formats.layout import Array
from mpgraph.quant.rewriting import WeightStore, Writer, pending, remove_unread
from mpgraph.quant.weights import quantize_weight, weight_parameters

__all__ = ["QuantizeRecurrent"]

_DOMAIN = "com.microsoft"
_INPUT, _HIDDEN = 1, 2
_OPERANDS = 8
"""Operands of an LSTM, behind which those for the scales come."""


@dataclass(frozen=True)
class QuantizeRecurrent(Pass):
    """Rewrite each LSTM that the plan quantizes as DynamicQuantizeLSTM.

    Its weights are stored as int8 [directions, inputs, gates], transposed, with a scale per
    direction and gate. The other operands and all attributes stay as they are.
    """

    name: ClassVar[str] = "quantize-recurrent"
    requires: ClassVar[tuple[type, ...]] = (QuantizationPlan,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Carry out the recurrent part of the plan."""
        plan = facts.get(QuantizationPlan)
        chosen = pending(plan, "recurrent")
        if not chosen:
            return False
        rewriter = _Rewriter(model, plan)
        for planned, node in chosen:
            rewriter.rewrite(planned, node)
        rewriter.store.remove_unread()
        return True


class _Rewriter:
    def __init__(self, model: ir.Model, plan: QuantizationPlan) -> None:
        self._plan = plan
        self._writer = Writer(model, QuantizeRecurrent.name)
        self.store = WeightStore(self._writer)

    def rewrite(self, planned: PlannedNode, node: ir.Node) -> None:
        """Rewrite one node in its place."""
        graph = node.graph
        if graph is None:
            raise ValueError(f"{ir.describe(node)}: it belongs to no graph")
        stored: list[ir.Value] = []
        weights = {}
        for index in (_INPUT, _HIDDEN):
            plan = self._plan.by_reader[f"{planned.key}:{index}"]
            weights[index], *parameters = self._weight(graph, node.inputs[index], plan)
            stored += parameters
        self._writer.import_domain(_DOMAIN, 1, graph)
        node.resize_inputs(_OPERANDS + len(stored))
        former = [node.inputs[index] for index in weights]
        for index, value in (*weights.items(), *enumerate(stored, start=_OPERANDS)):
            node.replace_input_with(index, value)
        node.domain, node.op_type = _DOMAIN, "DynamicQuantizeLSTM"
        node.attributes.pop("layout", None)
        for one in former:
            remove_unread(one)
        # ONNX infers no types behind an operator of another domain.
        for result in node.outputs:
            result.type = ir.TensorType(ir.DataType.FLOAT)
        ir.stamp(node, QuantizeRecurrent.name, "int8 weights, numbers quantized at every step")

    def _weight(
        self, graph: ir.Graph, value: ir.Value | None, plan: PlannedWeight
    ) -> tuple[ir.Value, ir.Value, ir.Value]:
        """The numbers, scales and zero points of W or R."""
        constant = self.store.constant(value)
        if constant is None:
            raise ValueError(f"{plan.reader}: it is no constant")
        directions, gates, inputs = constant.shape
        flat = ir.derived_tensor(
            constant.tensor,
            lambda array: np.array(array.reshape(directions * gates, inputs), np.float32),
            ir.DataType.FLOAT,
            shape=ir.Shape([directions * gates, inputs]),
        )
        format = Format(plan.dtype, plan.symmetric, plan.narrow, plan.bits)
        parameters = weight_parameters(flat, format, Layout(0))

        def transposed(array: Array) -> Array:
            return np.ascontiguousarray(array.reshape(directions, gates, inputs).transpose(0, 2, 1))

        values = ir.derived_tensor(
            quantize_weight(flat, parameters).values,
            transposed,
            ir.DataType.INT8,
            shape=ir.Shape([directions, inputs, gates]),
        )
        shape = (directions, gates)
        name = plan.constant or "weight"
        write = self._writer.constant
        return (
            write(graph, f"{name}_quantized", values),
            write(graph, f"{name}_scale", ir.tensor(parameters.scale.reshape(shape))),
            write(graph, f"{name}_zero_point", ir.tensor(parameters.zero_point.reshape(shape))),
        )
