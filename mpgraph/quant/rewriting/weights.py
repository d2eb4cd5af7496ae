"""Stores the quantized weights of a model, each once however many nodes take it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mpgraph import ir
from mpgraph.quant.algorithms import Rounded
from mpgraph.quant.formats import Format, Layout, Parameters, raise_weight_scale_for_bias
from mpgraph.quant.formats.layout import Array
from mpgraph.quant.placement.constants import Constant, find_constant
from mpgraph.quant.planned import PlannedWeight
from mpgraph.quant.rewriting.unread import remove_unread
from mpgraph.quant.rewriting.writer import Writer
from mpgraph.quant.weights import (
    QuantizedWeight,
    quantize_weight,
    stored_weight,
    weight_parameters,
)

__all__ = ["StoredWeight", "WeightStore"]

NOTHING_ROUNDED: Mapping[str, Rounded] = {}


@dataclass(frozen=True)
class StoredWeight:
    """A quantized weight in a graph.

    Attributes:
        values: The quantized numbers.
        scale: Their scales.
        zero_point: Their zero points.
        quantized: The same as tensors.
    """

    values: ir.Value
    scale: ir.Value
    zero_point: ir.Value
    quantized: QuantizedWeight

    @property
    def attributes(self) -> list[ir.Attr]:
        """The attributes of the DequantizeLinear that reads it."""
        layout = self.quantized.layout
        if layout.axis is None:
            return []
        found: list[ir.Attr] = [ir.AttrInt64("axis", layout.axis)]
        if layout.block_size is not None:
            found.append(ir.AttrInt64("block_size", layout.block_size))
        return found


class _Wanted(NamedTuple):
    """What tells two stored forms of a constant apart."""

    value: ir.Value
    dtype: str
    bits: int
    axis: int | None
    block_size: int | None
    float_dtype: ir.DataType
    factor: float
    order: tuple[int, ...]

    @property
    def stored_axis(self) -> int | None:
        """The axis of scales in what is stored."""
        if self.axis is None or not self.order:
            return self.axis
        return self.order.index(self.axis)


class WeightStore:
    """Quantizes constants and keeps what it has stored.

    Args:
        writer: Writes the constants.
        rounded: Weights [inputs, outputs] that an algorithm has rounded, by their reader.
    """

    def __init__(self, writer: Writer, rounded: Mapping[str, Rounded] = NOTHING_ROUNDED) -> None:
        self._writer = writer
        self._scratch = ir.Scratch()
        self._rounded = rounded
        self._constants: dict[ir.Value, Constant | None] = {}
        self._stored: dict[tuple[ir.Graph, _Wanted], StoredWeight] = {}

    def constant(self, value: ir.Value | None) -> Constant | None:
        """The constant behind an operand."""
        return find_constant(value, self._constants)

    def remove_unread(self) -> None:
        """Remove the nodes between constants and their former readers, where nothing reads them."""
        for constant in self._constants.values():
            if constant is not None and constant.path:
                remove_unread(constant.path[-1].outputs[0])

    def store(
        self,
        graph: ir.Graph,
        value: ir.Value,
        plan: PlannedWeight,
        dtype: ir.DataType,
        *,
        factor: float = 1.0,
        bias: tuple[Array, float] | None = None,
        order: tuple[int, ...] = (),
    ) -> StoredWeight:
        """The quantized form of a constant operand.

        Args:
            graph: Where it is read.
            value: The operand.
            plan: How it is stored.
            dtype: The float dtype that it is dequantized to.
            factor: A number that it is multiplied with beforehand.
            bias: A bias and the scale of the input, for which scales are raised where it would
                overflow otherwise.
            order: For each axis of what is stored, the axis of the operand; its own order if empty.

        Raises:
            InputError: The constant holds NaN or infinities.
        """
        constant = self.constant(value)
        if constant is None:
            raise ValueError(f"{value.name}: it is no constant")
        wanted = _Wanted(
            value, plan.dtype, plan.bits, plan.axis, plan.block_size, dtype, factor, order
        )
        if bias is not None or (graph, wanted) not in self._stored:
            quantized = self._quantize(constant, plan, wanted, bias)
            name = constant.base.name or value.name or "weight"
            self._stored[graph, wanted] = self._write(graph, name, quantized, dtype)
        return self._stored[graph, wanted]

    def _quantize(
        self,
        constant: Constant,
        plan: PlannedWeight,
        wanted: _Wanted,
        bias: tuple[Array, float] | None,
    ) -> QuantizedWeight:
        if plan.reader in self._rounded:
            return _as_stored(constant.tensor, self._rounded[plan.reader], plan, wanted)
        source = _prepared(constant.tensor, wanted)
        format = Format(plan.dtype, plan.symmetric, plan.narrow, plan.bits)
        parameters = weight_parameters(source, format, Layout(wanted.stored_axis, plan.block_size))
        parameters = _in_dtype(parameters, wanted.float_dtype)
        if bias is not None:
            raised = raise_weight_scale_for_bias(bias[0], bias[1], parameters.scale)
            parameters = _in_dtype(replace(parameters, scale=raised), wanted.float_dtype)
        return quantize_weight(source, parameters, self._scratch)

    def _write(
        self,
        graph: ir.Graph,
        name: str,
        quantized: QuantizedWeight,
        dtype: ir.DataType,
    ) -> StoredWeight:
        constant = self._writer.constant
        scale = quantized.scale
        if dtype != ir.DataType.FLOAT:
            converted = ir.tensor(scale.numpy().astype(dtype.numpy()), dtype=dtype)
            scale = self._scratch.hold(converted)
        return StoredWeight(
            constant(graph, f"{name}_quantized", quantized.values),
            constant(graph, f"{name}_scale", scale),
            constant(graph, f"{name}_zero_point", quantized.zero_point),
            quantized,
        )


def _as_stored(
    source: ir.TensorProtocol, rounded: Rounded, plan: PlannedWeight, wanted: _Wanted
) -> QuantizedWeight:
    """A weight that is rounded already, in the order of axes in which it is stored."""
    inputs_first = plan.axis == (0 if plan.block_size is not None else 1)
    stored_first = inputs_first == (wanted.order in ((), (0, 1)))
    parameters, values = rounded.parameters, rounded.values
    layout = Layout(wanted.stored_axis, plan.block_size)
    scale, zero = parameters.scale * np.float32(wanted.factor), parameters.zero_point
    if not stored_first:
        values, scale, zero = values.T, scale.T, zero.T
    parameters = Parameters(
        np.ascontiguousarray(scale), np.ascontiguousarray(zero), layout, parameters.format
    )
    parameters = _in_dtype(parameters, wanted.float_dtype)
    return stored_weight(np.ascontiguousarray(values), parameters, name=source.name or "")


def _in_dtype(parameters: Parameters, dtype: ir.DataType) -> Parameters:
    """Parameters whose scales a float dtype holds exactly, rounded up where they would vanish."""
    if dtype == ir.DataType.FLOAT:
        return parameters
    limits = ir.limits(dtype)
    held = np.clip(parameters.scale, limits.smallest_normal, limits.max).astype(dtype.numpy())
    return replace(parameters, scale=held.astype(np.float32))


def _prepared(source: ir.TensorProtocol, wanted: _Wanted) -> ir.TensorProtocol:
    """The constant times its factor, with its axes in the order in which they are stored."""
    if wanted.factor != 1.0:
        factor = wanted.factor
        source = ir.derived_tensor(
            source, lambda array: array * np.asarray(factor, array.dtype), source.dtype
        )
    if wanted.order and wanted.order != tuple(range(len(wanted.order))):
        extents = source.shape.numpy()
        source = ir.derived_tensor(
            source,
            lambda array: np.ascontiguousarray(array.transpose(wanted.order)),
            source.dtype,
            shape=ir.Shape([extents[axis] for axis in wanted.order]),
        )
    return source
