"""Scales the channels of a group, so that the results of the model stay as they are."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping

import numpy as np

from mpgraph import ir
from mpgraph.analysis import TypeFlow
from mpgraph.quant.affine import Multiplier, find_multiplier
from mpgraph.quant.affine.maps import FindConstant
from mpgraph.quant.equalization.gates import Gate
from mpgraph.quant.equalization.group import Group
from mpgraph.quant.formats.layout import Array
from mpgraph.quant.placement.constants import Constant
from mpgraph.quant.rewriting import Writer, put_constant, remove_unread

__all__ = ["Rescaler", "find_convolution"]


_FLOAT = ir.DataType.FLOAT


def find_convolution(node: ir.Node, flow: TypeFlow, find: FindConstant) -> Multiplier | None:
    """The convolution that a node is; None where its weight is no float32 constant."""
    found = find_multiplier(node, flow, find)
    fits = found is not None and found.convolves and found.weight.tensor.dtype == _FLOAT
    return found if fits else None


class Rescaler:
    """Multiplies what writes the values of a group by factors, and divides what reads them.

    Args:
        graph: The main graph of the model.
        multipliers: Its convolutions; those that change are found anew.
        flow: Types and shapes of its values.
        find: Finds constants.
        writer: Adds nodes and constants.
    """

    def __init__(
        self,
        graph: ir.Graph,
        multipliers: MutableMapping[ir.Node, Multiplier],
        flow: TypeFlow,
        find: FindConstant,
        writer: Writer,
    ) -> None:
        self._graph = graph
        self._multipliers = multipliers
        self._flow = flow
        self._find = find
        self._writer = writer

    def rescale(self, group: Group, factors: Array) -> None:
        """Scale a group.

        Args:
            group: The group.
            factors: float32[channels], above 0.
        """
        scales = {value: factors * np.float32(one) for value, one in group.values.items()}
        self._scale_weights(group, scales)
        for shift in group.shifts:
            operand = shift.node.inputs[1 - shift.index]
            if operand is not None and _changes(scales[operand]):
                self._scale_shift(shift.node, shift.index, shift.constant, scales[operand])
        for gate in group.gates:
            if _changes(scales[gate.value]):
                self._open_gate(gate, scales[gate.value])
        for value, scale in scales.items():
            if _changes(scale):
                value.name = self._writer.free_name(f"{value.name}_equalized")
        for node, _ in group.dropped:
            self._drop(node)

    def _scale_weights(self, group: Group, scales: Mapping[ir.Value, Array]) -> None:
        """Multiply the weights before a group, and divide those behind it."""
        reads = {reader.multiplier.node: scales[reader.value] for reader in group.readers}
        for node in dict.fromkeys((*group.sources, *reads)):
            multiplier = self._multipliers[node]
            factor = np.ones(1)
            if node in reads:
                factor = factor * multiplier.weight_factor(np.reciprocal(reads[node]), reads=True)
            if node in group.sources:
                written = scales[node.outputs[0]]
                factor = factor * multiplier.weight_factor(written, reads=False)
                if multiplier.bias is not None and _changes(written):
                    bias = (multiplier.bias * written).astype(np.float32)
                    self._put(node, 2, ir.tensor(bias))
            if _changes(factor):
                self._put(node, 1, _times(multiplier.weight.tensor, factor.astype(np.float32)))
            found = find_convolution(node, self._flow, self._find)
            if found is not None:
                self._multipliers[node] = found

    def _scale_shift(self, node: ir.Node, index: int, constant: Constant, scale: Array) -> None:
        rank = len(self._flow.shape(node.outputs[0]) or ())
        array = np.asarray(constant.tensor.numpy(), np.float32)
        array = array.reshape((1,) * (rank - array.ndim) + array.shape)
        spread = scale.reshape(1, -1, *(1,) * (rank - 2))
        self._put(node, index, ir.tensor(np.asarray(array * spread, np.float32)))

    def _open_gate(self, gate: Gate, scale: Array) -> None:
        """Let a depthwise Conv do what the Add of a gate did, from the scaled value."""
        rank = len(self._flow.shape(gate.value) or ())
        result, channels = gate.add.outputs[0], scale.size
        weight = np.reciprocal(scale).reshape(channels, *(1,) * (rank - 1))
        bias = np.repeat(np.asarray(gate.shift.tensor.numpy(), np.float32).reshape(-1), channels)
        name = result.name or "gate"
        operands = [
            gate.value,
            self._writer.constant(self._graph, f"{name}_weight", ir.tensor(weight)),
            self._writer.constant(self._graph, f"{name}_bias", ir.tensor(bias)),
        ]
        (shifted,) = self._writer.before(
            gate.add,
            "Conv",
            operands,
            [(name, _FLOAT)],
            [ir.AttrInt64("group", channels), ir.AttrInt64s("kernel_shape", [1] * (rank - 2))],
            rule="a gate sees the value before its channels were scaled",
        )
        operands_before = list(gate.add.inputs)
        self._writer.replace(gate.add, shifted)
        for operand in operands_before:
            remove_unread(operand)

    def _drop(self, node: ir.Node) -> None:
        (operand,) = (value for value in node.inputs if value and self._find(value) is None)
        operands, graph = list(node.inputs), node.graph
        node.outputs[0].replace_all_uses_with(operand)
        if graph is not None:
            graph.remove(node, safe=True)
        for one in operands:
            remove_unread(one)

    def _put(self, node: ir.Node, index: int, tensor: ir.TensorProtocol) -> None:
        base = self._find(node.inputs[index])
        name = "constant" if base is None else base.base.name or "constant"
        put_constant(self._writer, node, index, f"{name}_equalized", tensor)


def _changes(factor: Array) -> bool:
    return bool(np.any(factor != 1.0))


def _times(source: ir.TensorProtocol, factor: Array) -> ir.TensorProtocol:
    return ir.derived_tensor(source, lambda array: array * factor, source.dtype)
