"""Quantize activations when the model runs, and weights once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types
from mpgraph.passmgr import Facts, Pass
from mpgraph.quant import PlannedNode, PlannedWeight, QuantizationPlan
from mpgraph.quant.formats import SMALLEST_SCALE
from mpgraph.quant.placement.operands import operands_of
from mpgraph.quant.rewriting import (
    WeightStore,
    Writer,
    add_bias,
    gemm_bias,
    matrix_weight,
    pending,
    read_dequantized,
    step,
)
from mpgraph.schema import integer

__all__ = ["QuantizeDynamically"]

_FLOAT, _UINT8, _INT32 = ir.DataType.FLOAT, ir.DataType.UINT8, ir.DataType.INT32


@dataclass(frozen=True)
class QuantizeDynamically(Pass):
    """Rewrite the nodes that the plan quantizes when they run.

    A MatMul or Gemm becomes DynamicQuantizeLinear, MatMulInteger, a Cast and products with both
    scales, which onnxruntime fuses; with a range per row, the rows are divided by it first and the
    products multiplied by it. Any other node reads its activation through
    DynamicQuantizeLinear and DequantizeLinear. An activation that several nodes read is quantized
    once.
    """

    name: ClassVar[str] = "quantize-dynamically"
    requires: ClassVar[tuple[type, ...]] = (QuantizationPlan,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Carry out the dynamic part of the plan."""
        plan = facts.get(QuantizationPlan)
        chosen = pending(plan, "dynamic", "dynamic_rows")
        if not chosen:
            return False
        ir.import_default_domain(model)
        rewriter = _Rewriter(model, plan, infer_types(model))
        for planned, node in chosen:
            rewriter.rewrite(planned, node)
        rewriter.store.remove_unread()
        return True


class _Rewriter:
    def __init__(self, model: ir.Model, plan: QuantizationPlan, flow: TypeFlow) -> None:
        self._plan = plan
        self._flow = flow
        self._writer = Writer(model, QuantizeDynamically.name)
        self.store = WeightStore(self._writer)
        self._opset = ir.opset_of("", model.opset_imports) or 0
        self._quantized: dict[tuple[ir.Graph, ir.Value], list[ir.Value]] = {}
        self._rows: dict[tuple[ir.Graph, ir.Value], tuple[list[ir.Value], ir.Value]] = {}

    def rewrite(self, planned: PlannedNode, node: ir.Node) -> None:
        """Rewrite one node."""
        weight = self.store.constant(node.inputs[1])
        if weight is None:
            raise ValueError(f"{ir.describe(node)}: it has no constant weight")
        operands = operands_of(node, len(weight.shape))
        if operands is None:
            raise ValueError(f"{ir.describe(node)}: it has no operands to quantize")
        plan = self._plan.by_reader[f"{planned.key}:{operands.weight}"]
        if planned.form == "dynamic_rows":
            self._multiply_rows(node, plan)
        elif node.op_type in ("Gemm", "MatMul") and len(weight.shape) == 2:
            self._multiply_integers(node, plan)
        else:
            self._simulate(node, plan)

    def _quantize(self, node: ir.Node, value: ir.Value) -> list[ir.Value]:
        """The quantized numbers, scale and zero point of an activation, once per graph."""
        graph = node.graph
        if graph is None:
            raise ValueError(f"{ir.describe(node)}: it belongs to no graph")
        if (graph, value) not in self._quantized:
            source = self._cast(node, value, _FLOAT)
            name = value.name or "activation"
            self._quantized[graph, value] = self._writer.before(
                node,
                "DynamicQuantizeLinear",
                [source],
                [
                    (f"{name}_quantized", _UINT8),
                    (f"{name}_scale", _FLOAT),
                    (f"{name}_zero_point", _UINT8),
                ],
                rule="its range is taken when the model runs",
            )
        return self._quantized[graph, value]

    def _multiply_integers(self, node: ir.Node, plan: PlannedWeight) -> None:
        activation = self._activation(node)
        self._multiply(node, plan, self._quantize(node, activation))

    def _multiply_rows(self, node: ir.Node, plan: PlannedWeight) -> None:
        """Divide each row by its largest magnitude, which is multiplied back to the product."""
        activation = self._activation(node)
        quantized, largest = self._quantize_rows(node, activation)
        self._multiply(node, plan, quantized, largest)

    def _activation(self, node: ir.Node) -> ir.Value:
        activation = node.inputs[0]
        if activation is None:
            raise ValueError(f"{ir.describe(node)}: it has no activation")
        if node.op_type == "Gemm" and integer(node, "transA", 0, {}):
            return self._transposed(node, activation)
        return activation

    def _quantize_rows(self, node: ir.Node, value: ir.Value) -> tuple[list[ir.Value], ir.Value]:
        """The quantized rows of an activation and the largest magnitude of each, once per graph."""
        graph = node.graph
        if graph is None:
            raise ValueError(f"{ir.describe(node)}: it belongs to no graph")
        if (graph, value) not in self._rows:
            source = self._cast(node, value, _FLOAT)
            name = value.name or "activation"
            magnitudes = self._step(node, "Abs", [source], f"{name}_magnitudes", _FLOAT)
            operands, attributes = self._last_axis(graph, name)
            (largest,) = self._writer.before(
                node,
                "ReduceMax",
                [magnitudes, *operands],
                [(f"{name}_largest", _FLOAT)],
                attributes,
                rule="the range of each row",
            )
            least = self._writer.scalar(graph, f"{name}_least", SMALLEST_SCALE, _FLOAT)
            largest = self._step(node, "Max", [largest, least], f"{name}_range", _FLOAT)
            divided = self._step(node, "Div", [source, largest], f"{name}_divided", _FLOAT)
            scale = self._writer.scalar(graph, f"{name}_scale", 1 / 127, _FLOAT)
            zero = self._writer.scalar(graph, f"{name}_zero_point", 128, _UINT8)
            values = self._step(
                node, "QuantizeLinear", [divided, scale, zero], f"{name}_quantized", _UINT8
            )
            self._rows[graph, value] = [values, scale, zero], largest
        return self._rows[graph, value]

    def _last_axis(self, graph: ir.Graph, name: str) -> tuple[list[ir.Value], list[ir.Attr]]:
        """The axis of a ReduceMax: an operand from opset 18 on, an attribute before."""
        if self._opset < 18:
            return [], [ir.AttrInt64s("axes", [-1])]
        axes = ir.tensor(np.array([-1], np.int64))
        return [self._writer.constant(graph, f"{name}_last_axis", axes)], []

    def _multiply(
        self,
        node: ir.Node,
        plan: PlannedWeight,
        quantized: list[ir.Value],
        largest: ir.Value | None = None,
    ) -> None:
        values, scale, zero = quantized
        dtype = self._flow.dtype(node.outputs[0]) or _FLOAT
        weight = matrix_weight(self.store, node, plan, _FLOAT)
        name = node.outputs[0].name or "product"
        factor = self._step(node, "Mul", [scale, weight.scale], f"{name}_scales", _FLOAT)
        product = self._step(
            node, "MatMulInteger", [values, weight.values, zero], f"{name}_integers", _INT32
        )
        cast = self._cast(node, product, _FLOAT)
        last = self._step(node, "Mul", [cast, factor], f"{name}_product", _FLOAT)
        if largest is not None:
            last = self._step(node, "Mul", [last, largest], f"{name}_rows", _FLOAT)
        bias = gemm_bias(node)
        if bias is not None:
            last = add_bias(self._writer, node, last, self._cast(node, bias, _FLOAT), _FLOAT)
        self._writer.replace(node, self._cast(node, last, dtype))

    def _transposed(self, node: ir.Node, value: ir.Value) -> ir.Value:
        dtype = self._flow.dtype(value) or _FLOAT
        return self._step(node, "Transpose", [value], f"{value.name}_transposed", dtype)

    def _simulate(self, node: ir.Node, plan: PlannedWeight) -> None:
        """Let a node that has no integer kernel read what quantization leaves of its operands."""
        activation, operand, graph = node.inputs[0], node.inputs[1], node.graph
        if activation is None or operand is None or graph is None:
            raise ValueError(f"{ir.describe(node)}: it lacks an operand")
        dtype = self._flow.dtype(operand) or _FLOAT
        name = activation.name or "activation"
        read = self._step(
            node,
            "DequantizeLinear",
            self._quantize(node, activation),
            f"{name}_dequantized",
            _FLOAT,
        )
        node.replace_input_with(0, self._cast(node, read, dtype))
        stored = self.store.store(graph, operand, plan, dtype)
        read_dequantized(self._writer, node, 1, stored, dtype, rule="its weight")

    def _cast(self, node: ir.Node, value: ir.Value, dtype: ir.DataType) -> ir.Value:
        known = self._flow.dtype(value) or ir.element_dtype(value.type)
        if known == dtype:
            return value
        (result,) = self._writer.before(
            node,
            "Cast",
            [value],
            [(f"{value.name}_{ir.dtype_name(dtype)}", dtype)],
            [ir.AttrInt64("to", int(dtype))],
            rule="integers meet scales in float32",
        )
        return result

    def _step(
        self,
        node: ir.Node,
        op_type: str,
        operands: list[ir.Value],
        name: str,
        dtype: ir.DataType,
    ) -> ir.Value:
        return step(self._writer, node, op_type, operands, name, dtype)
