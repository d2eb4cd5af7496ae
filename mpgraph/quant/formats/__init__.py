"""The numerics of quantization: formats, layouts, scales, rounding, packing; numpy alone."""

from __future__ import annotations

from mpgraph.quant.formats.bias import (
    LARGEST_BIAS,
    bias_parameters,
    quantize_bias,
    raise_weight_scale_for_bias,
)
from mpgraph.quant.formats.clipping import SHRINKS, mse_parameters, squared_error
from mpgraph.quant.formats.format import Format
from mpgraph.quant.formats.gather_block import GatherBlockWeight, gather_block_quantized
from mpgraph.quant.formats.layout import CHUNK_ELEMENTS, Layout
from mpgraph.quant.formats.linear import dequantize, quantize
from mpgraph.quant.formats.nbits import NBitsWeight, in_blocks, matmul_nbits
from mpgraph.quant.formats.packing import pack, unpack
from mpgraph.quant.formats.parameters import SMALLEST_SCALE, Parameters, parameters_from_range
from mpgraph.quant.formats.ranges import range_of

__all__ = [
    "CHUNK_ELEMENTS",
    "LARGEST_BIAS",
    "SHRINKS",
    "SMALLEST_SCALE",
    "Format",
    "GatherBlockWeight",
    "Layout",
    "NBitsWeight",
    "Parameters",
    "bias_parameters",
    "dequantize",
    "gather_block_quantized",
    "in_blocks",
    "matmul_nbits",
    "mse_parameters",
    "pack",
    "parameters_from_range",
    "quantize",
    "quantize_bias",
    "raise_weight_scale_for_bias",
    "range_of",
    "squared_error",
    "unpack",
]
