"""Weights of a model, quantized when they are read: one tensor in memory at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from mpgraph import ir
from mpgraph.quant.formats import (
    Format,
    Layout,
    Parameters,
    mse_parameters,
    pack,
    parameters_from_range,
    quantize,
    range_of,
)
from mpgraph.quant.formats.layout import Array

__all__ = [
    "QuantizedWeight",
    "mse_weight_parameters",
    "quantize_weight",
    "stored_weight",
    "weight_parameters",
]

Result = TypeVar("Result")


@dataclass(frozen=True)
class QuantizedWeight:
    """What stands in a model for a float weight.

    Attributes:
        values: The weight in the dtype of its format and its own shape; computed from the float
            tensor each time it is read, and never kept.
        scale: float32, in the shape that the layout gives.
        zero_point: The dtype of `values`, the shape of `scale`.
        layout: Which elements share a scale.
        format: What `values` holds.
    """

    values: ir.LazyTensor
    scale: ir.TensorProtocol
    zero_point: ir.TensorProtocol
    layout: Layout
    format: Format

    @property
    def parameters(self) -> Parameters:
        """Its scales and zero points as arrays, read anew each time."""
        return _parameters(self.scale, self.zero_point, self.layout, self.format)


def weight_parameters(
    source: ir.TensorProtocol,
    format: Format,
    layout: Layout,
    *,
    minimum_range: float | None = None,
) -> Parameters:
    """The parameters by which a format covers all values of a weight.

    Reads the tensor once, in chunks, and releases the file that it maps.

    Raises:
        InputError: The weight holds NaN or infinities, is no float tensor, or lacks the axis.
    """
    name = source.name or ""
    low, high = _computed(source, lambda array: range_of(array, layout, name=name))
    return parameters_from_range(low, high, format, layout, minimum_range=minimum_range, name=name)


def mse_weight_parameters(
    source: ir.TensorProtocol,
    format: Format,
    layout: Layout,
    *,
    minimum_range: float | None = None,
) -> Parameters:
    """The parameters with the least squared error, as `formats.mse_parameters` finds them.

    Raises:
        InputError: The weight holds NaN or infinities, is no float tensor, or lacks the axis.
    """
    return _computed(
        source,
        lambda array: mse_parameters(
            array, format, layout, minimum_range=minimum_range, name=source.name or ""
        ),
    )


def quantize_weight(
    source: ir.TensorProtocol, parameters: Parameters, scratch: ir.Scratch | None = None
) -> QuantizedWeight:
    """The weight as it will stand in the model; nothing is computed until its values are read.

    Args:
        source: Float tensor, external ones included; it must stay readable.
        parameters: Scales and zero points in the shape that their layout gives for the weight.
        scratch: Holds scales and zero points, which are an eighth of a weight in small blocks; None
            leaves them in memory.

    Raises:
        InputError: The scales do not fit the shape of the weight.
    """
    name = source.name or ""
    shape = tuple(int(size) for size in source.shape.numpy())
    parameters.check_shape(shape, name)
    layout, format = parameters.layout, parameters.format
    scale: ir.TensorProtocol = ir.Tensor(parameters.scale, name=f"{name}_scale")
    zero = _tensor_of(parameters.zero_point, format, f"{name}_zero_point")
    if scratch is not None:
        scale, zero = scratch.hold(scale), scratch.hold(zero)

    def read() -> ir.TensorProtocol:
        known = _parameters(scale, zero, layout, format)
        values = _computed(source, lambda array: quantize(array, known, name=name))
        return _tensor_of(values, format, name)

    values = ir.LazyTensor(
        read,
        dtype=format.ir_dtype,
        shape=ir.Shape(source.shape.numpy()),
        name=f"{name}_quantized",
        doc_string=source.doc_string,
    )
    return QuantizedWeight(values, scale, zero, layout, format)


def stored_weight(values: Array, parameters: Parameters, *, name: str = "") -> QuantizedWeight:
    """A weight that is quantized already, as it will stand in the model.

    Args:
        values: In the dtype of the format.
        parameters: Scales and zero points in the shape that their layout gives for the weight.
        name: Its name.

    Raises:
        InputError: The scales do not fit the shape of the weight.
    """
    parameters.check_shape(values.shape, name)
    format = parameters.format
    held = _tensor_of(values, format, name)
    return QuantizedWeight(
        values=ir.LazyTensor(
            lambda: held, dtype=format.ir_dtype, shape=ir.Shape(values.shape), name=name
        ),
        scale=ir.Tensor(parameters.scale, name=f"{name}_scale"),
        zero_point=_tensor_of(parameters.zero_point, format, f"{name}_zero_point"),
        layout=parameters.layout,
        format=format,
    )


def _parameters(
    scale: ir.TensorProtocol, zero_point: ir.TensorProtocol, layout: Layout, format: Format
) -> Parameters:
    return Parameters(scale.numpy(), zero_point.numpy(), layout, format)


def _tensor_of(values: Array, format: Format, name: str) -> ir.TensorProtocol:
    """A tensor of values; small integers are packed at once, so that writing copies no more."""
    dtype = format.ir_dtype
    if dtype.bitwidth < 8:
        return ir.PackedTensor(pack(values), dtype, shape=values.shape, name=name)
    return ir.Tensor(values, dtype=dtype, name=name)


def _computed(source: ir.TensorProtocol, function: Callable[[Array], Result]) -> Result:
    """What a function makes of a tensor's array, whose file mapping is then closed again.

    The array gets no name here: the mapping cannot be closed while anything refers to it.
    """
    result = function(source.numpy())
    if isinstance(source, ir.ExternalTensor):
        source.release()
    return result
