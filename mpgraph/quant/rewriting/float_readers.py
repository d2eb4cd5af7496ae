"""What a node that stays in float reads, where its activation is quantized."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mpgraph import ir
from mpgraph.quant.rewriting.weights import WeightStore
from mpgraph.quant.rewriting.writer import Writer
from mpgraph.schema import integer

__all__ = ["per_channel"]

_REQUANTIZED = frozenset({"Conv", "ConvTranspose", "Gemm"})


def per_channel(
    writer: Writer,
    store: WeightStore,
    reader: ir.Node,
    index: int,
    operands: Sequence[ir.Value],
) -> tuple[list[ir.Value], list[ir.Attr]]:
    """The operands and attributes of a DequantizeLinear before a node that stays in float.

    onnxruntime quantizes the float weight of a Conv, ConvTranspose or Gemm that reads a
    DequantizeLinear with one scale, by itself and with one scale for the whole weight
    (``WeightBiasQuantization``). It leaves alone what has a scale per axis, so that such a node
    gets the one scale once per channel.

    Args:
        writer: Adds constants.
        store: Finds them.
        reader: The node.
        index: Which of its operands is read.
        operands: The quantized value, its scale and its zero point.
    """
    constant = store.constant(reader.inputs[1]) if len(reader.inputs) > 1 else None
    graph = reader.graph
    if reader.op_type not in _REQUANTIZED or index != 0 or constant is None or graph is None:
        return list(operands), []
    channels, axis = constant.shape[0], 1
    if reader.op_type == "Conv":
        channels = constant.shape[1] * integer(reader, "group", 1, {})
    elif reader.op_type == "Gemm":
        channels = constant.shape[integer(reader, "transB", 0, {})]
        axis = 0 if integer(reader, "transA", 0, {}) else 1
    spread = [
        writer.constant(graph, f"{one.name}_per_channel", _repeated(one, channels))
        for one in operands[1:]
    ]
    return [operands[0], *spread], [ir.AttrInt64("axis", axis)]


def _repeated(value: ir.Value, count: int) -> ir.TensorProtocol:
    """A constant of one element, a number of times."""
    tensor = ir.constant_tensor(value)
    if tensor is None:
        raise ValueError(f"{value.name}: it is not constant")
    return ir.tensor(np.repeat(tensor.numpy().reshape(-1), count), dtype=tensor.dtype)
