"""Put QuantizeLinear and DequantizeLinear where a plan has static scales."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types
from mpgraph.passmgr import Facts, Pass
from mpgraph.quant import PlannedActivation, PlannedNode, QuantizationPlan
from mpgraph.quant.formats.layout import Array
from mpgraph.quant.placement.operands import operands_of
from mpgraph.quant.places import place_of
from mpgraph.quant.rewriting import (
    BiasWriter,
    StoredWeight,
    WeightStore,
    Writer,
    largest_per_scale,
    pending,
    per_channel,
    read_dequantized,
    take_factor,
)
from mpgraph.targets import Target, quantization_rules

__all__ = ["InsertQuantizers"]


@dataclass(frozen=True)
class InsertQuantizers(Pass):
    """Quantize activations, weights and biases of the nodes that the plan gives static scales.

    Each quantized value has one QuantizeLinear, and each operand of a quantized node that reads it
    a DequantizeLinear of its own, which is what runtimes fuse; nodes in float share one. A bias is
    int32 with the product of both scales where the target takes that. Factors of a Gemm go into its
    constants.
    """

    name: ClassVar[str] = "insert-quantizers"
    requires: ClassVar[tuple[type, ...]] = (QuantizationPlan, Target)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Carry out the static part of the plan."""
        plan = facts.get(QuantizationPlan)
        if not plan.activations or not pending(plan, "static"):
            return False
        ir.import_default_domain(model)
        quantizes_bias = quantization_rules(facts.get(Target)).quantizes_bias
        rewriter = _Rewriter(model, plan, infer_types(model), quantizes_bias)
        for planned, node in plan.nodes_of("static"):
            rewriter.quantize_constants(planned, node)
        for activation in plan.activations:
            rewriter.quantize_value(activation)
        rewriter.store.remove_unread()
        return True


class _Rewriter:
    def __init__(
        self, model: ir.Model, plan: QuantizationPlan, flow: TypeFlow, quantizes_bias: bool
    ) -> None:
        self._plan = plan
        self._flow = flow
        self._quantizes_bias = quantizes_bias
        self._writer = Writer(model, InsertQuantizers.name)
        self.store = WeightStore(self._writer)
        self._biases = BiasWriter(self._writer, self.store, flow)
        self._main = model.graph
        self._scales = {
            reader: activation.scale
            for activation in plan.activations
            for reader in activation.readers
        }
        self._values = {
            path: {value.name: value for value in ir.defined_values(graph) if value.name}
            for path, graph in plan.graphs.items()
        }

    def quantize_value(self, planned: PlannedActivation) -> None:
        """Put a QuantizeLinear behind a value and a DequantizeLinear before each reader."""
        value = self._values[planned.graph][planned.value]
        graph = value.graph
        if graph is None:
            raise ValueError(f"{value.name}: it belongs to no graph")
        dtype = self._flow.dtype(value) or ir.DataType.FLOAT
        quantized_dtype = ir.parse_dtype(planned.dtype)
        number = np.asarray(planned.scale, dtype.numpy())
        scale = self._writer.scalar(graph, f"{value.name}_scale", float(number), dtype)
        zero = self._writer.scalar(
            graph, f"{value.name}_zero_point", planned.zero_point, quantized_dtype
        )
        (quantized,) = self._writer.behind(
            value,
            "QuantizeLinear",
            [value, scale, zero],
            [(f"{value.name}_quantized", quantized_dtype)],
            rule=f"{planned.dtype}, scale {planned.scale:.6g}",
        )
        ir.copy_shape(value, quantized)
        operands = [quantized, scale, zero]
        floats = [text for text in planned.readers if self._is_float(text, graph)]
        for text in planned.readers:
            if text not in floats:
                self._read(text, value, operands, dtype)
        if floats:
            self._read_in_float(floats, value, operands, dtype)

    def _is_float(self, text: str, graph: ir.Graph) -> bool:
        """Whether a reader is a node of a graph that computes in float."""
        place = place_of(text)
        node = self._plan.places.get(place.key)
        planned = self._plan.by_key.get(place.key)
        is_static = planned is not None and planned.form == "static"
        return node is not None and node.graph is graph and not is_static

    def _read(
        self, text: str, value: ir.Value, operands: list[ir.Value], dtype: ir.DataType
    ) -> None:
        """Let a quantized node, a node of a body or an output of the graph read a value."""
        place = place_of(text)
        rule = f"for {text}"
        result = (f"{value.name}_dequantized", dtype)
        if place.key in self._plan.places:
            reader = self._plan.places[place.key]
            parameters, attributes = self._parameters(text, operands)
            (read,) = self._writer.before(
                reader, "DequantizeLinear", parameters, [result], attributes, rule=rule
            )
            reader.replace_input_with(place.position, read)
        else:
            (read,) = self._writer.behind(
                operands[0], "DequantizeLinear", operands, [result], rule=rule
            )
            self._replace_output(place.key, place.position, value, read)
        ir.copy_shape(value, read)

    def _read_in_float(
        self,
        readers: list[str],
        value: ir.Value,
        operands: list[ir.Value],
        dtype: ir.DataType,
    ) -> None:
        """Let nodes that compute in float read a value, dequantized once for all."""
        found = [self._parameters(text, operands) for text in readers]
        parameters, attributes = max(found, key=lambda one: len(one[1]))
        result = (f"{value.name}_dequantized", dtype)
        rule = f"for {', '.join(readers)}"
        (read,) = self._writer.behind(
            operands[0], "DequantizeLinear", parameters, [result], attributes, rule=rule
        )
        ir.copy_shape(value, read)
        for text in readers:
            place = place_of(text)
            self._plan.places[place.key].replace_input_with(place.position, read)

    def _parameters(
        self, text: str, operands: list[ir.Value]
    ) -> tuple[list[ir.Value], list[ir.Attr]]:
        """The operands and attributes of the DequantizeLinear before a node."""
        place = place_of(text)
        if f"{place.key}:1" in self._plan.by_reader:
            return operands, []
        reader = self._plan.places[place.key]
        return per_channel(self._writer, self.store, reader, place.position, operands)

    def _replace_output(self, path: str, index: int, value: ir.Value, read: ir.Value) -> None:
        graph = self._plan.graphs[path]
        graph.outputs[index] = read
        if graph is self._main:
            public = value.name or ""
            value.name = self._writer.free_name(f"{public}_float")
            read.name = public

    def quantize_constants(self, planned: PlannedNode, node: ir.Node) -> None:
        """Quantize the constant operands of a node, its bias too."""
        if not planned.counts:
            for index in range(len(node.inputs)):
                self._quantize_operand(planned, node, index)
            return
        rank = self._rank(node.inputs[1])
        operands = operands_of(node, rank)
        if operands is None:
            raise ValueError(f"{ir.describe(node)}: it has no operands to quantize")
        alpha = take_factor(node, "alpha")
        input_scale = self._input_scale(planned, node.inputs[operands.activation])
        bias = None
        if operands.bias is not None:
            bias = self._biases.constant(node, operands)
        both = (bias, input_scale) if bias is not None and input_scale is not None else None
        keeps = both if self._quantizes_bias else None
        steps = None if keeps is None else (largest_per_scale(node, keeps[0]), keeps[1])
        weight = self._quantize_operand(planned, node, operands.weight, alpha, steps)
        if operands.bias is None:
            return
        if weight is not None and keeps is not None:
            self._biases.quantize(node, operands.bias, keeps, weight)
        else:
            self._biases.multiply(node, operands.bias)

    def _input_scale(self, planned: PlannedNode, value: ir.Value | None) -> float | None:
        """The scale of the activation: planned, or that which the model has already."""
        for index in range(2):
            known = self._scales.get(f"{planned.key}:{index}")
            if known is not None:
                return known
        producer = None if value is None else value.producer()
        if producer is None or producer.op_type != "DequantizeLinear":
            return None
        constant = self.store.constant(producer.inputs[1])
        if constant is None or constant.tensor.size != 1:
            return None
        return constant.number

    def _rank(self, value: ir.Value | None) -> int:
        constant = self.store.constant(value)
        if constant is not None:
            return len(constant.shape)
        return 0 if value is None else len(self._flow.shape(value) or ())

    def _quantize_operand(
        self,
        planned: PlannedNode,
        node: ir.Node,
        index: int,
        factor: float = 1.0,
        bias: tuple[Array, float] | None = None,
    ) -> StoredWeight | None:
        plan = self._plan.by_reader.get(f"{planned.key}:{index}")
        value = node.inputs[index]
        if plan is None or value is None or node.graph is None:
            return None
        dtype = self._flow.dtype(value) or ir.DataType.FLOAT
        stored = self.store.store(node.graph, value, plan, dtype, factor=factor, bias=bias)
        rule = f"weight of {planned.mode}"
        read_dequantized(self._writer, node, index, stored, dtype, rule=rule)
        return stored
