"""Writes the biases of nodes whose activation and weight are quantized."""

from __future__ import annotations

import numpy as np

from mpgraph import ir
from mpgraph.analysis import TypeFlow
from mpgraph.quant.formats import bias_parameters, quantize_bias
from mpgraph.quant.formats.layout import Array
from mpgraph.quant.placement.operands import Operands, gemm_factor
from mpgraph.quant.rewriting.products import take_factor
from mpgraph.quant.rewriting.weights import StoredWeight, WeightStore
from mpgraph.quant.rewriting.writer import Writer
from mpgraph.schema import integer

__all__ = ["BiasWriter", "largest_per_scale"]


class BiasWriter:
    """Quantizes constant biases.

    Args:
        writer: Adds nodes and constants.
        store: Finds constants.
        flow: The types of the values of the model.
    """

    def __init__(self, writer: Writer, store: WeightStore, flow: TypeFlow) -> None:
        self._writer = writer
        self._store = store
        self._flow = flow

    def constant(self, node: ir.Node, operands: Operands) -> Array | None:
        """A constant bias, float[channels], times the ``beta`` of a Gemm; None where it is none."""
        value = None if operands.bias is None else node.inputs[operands.bias]
        constant = self._store.constant(value)
        weight = self._store.constant(node.inputs[operands.weight])
        if constant is None or weight is None:
            return None
        count = weight.shape[operands.channels] * _groups(node)
        array = constant.tensor.numpy().reshape(-1)
        beta = np.asarray(gemm_factor(node, "beta"), array.dtype)
        if array.size == 1:
            return np.repeat(array * beta, count)
        return array * beta if array.size == count else None

    def quantize(
        self, node: ir.Node, index: int, bias: tuple[Array, float], weight: StoredWeight
    ) -> None:
        """Let a node read its bias as int32 in steps of the products, through a DequantizeLinear.

        Args:
            node: The node; a Gemm loses its ``beta``.
            index: Which operand the bias is.
            bias: The bias, float[channels], and the scale of the activation.
            weight: The stored weight.
        """
        take_factor(node, "beta")
        value, graph = node.inputs[index], node.graph
        if value is None or graph is None:
            raise ValueError(f"{ir.describe(node)}: it has no bias")
        dtype = self._flow.dtype(value) or ir.DataType.FLOAT
        scales = weight.quantized.parameters.scale
        count = bias[0].size
        if node.op_type == "ConvTranspose" and scales.ndim:
            scales = np.tile(scales, count // scales.size)
        parameters = bias_parameters(np.float32(bias[1]), scales)
        numbers = quantize_bias(bias[0], parameters, name=value.name or "")
        name = value.name or "bias"
        constant = self._writer.constant
        scale = ir.tensor(parameters.scale.astype(dtype.numpy()), dtype=dtype)
        operands = [
            constant(graph, f"{name}_quantized", ir.tensor(numbers)),
            constant(graph, f"{name}_scale", scale),
        ]
        attributes = [] if parameters.layout.axis is None else [ir.AttrInt64("axis", 0)]
        (read,) = self._writer.before(
            node,
            "DequantizeLinear",
            operands,
            [(f"{name}_dequantized", dtype)],
            attributes,
            rule="bias in steps of the products",
        )
        read.shape = ir.Shape([count])
        node.replace_input_with(index, read)

    def multiply(self, node: ir.Node, index: int) -> None:
        """Take the factor of a bias out of a Gemm: onnxruntime loses it when it fuses the node."""
        beta, value = take_factor(node, "beta"), node.inputs[index]
        if beta == 1.0 or value is None or node.graph is None:
            return
        dtype = self._flow.dtype(value) or ir.DataType.FLOAT
        factor = self._writer.scalar(node.graph, "beta", beta, dtype)
        (product,) = self._writer.before(
            node, "Mul", [value, factor], [(f"{value.name}_scaled", dtype)], rule="beta of a Gemm"
        )
        node.replace_input_with(index, product)


def largest_per_scale(node: ir.Node, bias: Array) -> Array:
    """The largest bias for each scale of a weight: groups of a ConvTranspose share theirs."""
    return np.asarray(np.abs(bias).reshape(_groups(node), -1).max(axis=0), bias.dtype)


def _groups(node: ir.Node) -> int:
    """How many groups of output channels share the scales of a weight."""
    return integer(node, "group", 1, {}) if node.op_type == "ConvTranspose" else 1
