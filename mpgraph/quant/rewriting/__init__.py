"""What the quantizing passes share: writing nodes and constants, and storing weights."""

from mpgraph.quant.rewriting.biases import BiasWriter, largest_per_scale
from mpgraph.quant.rewriting.constants import put_constant
from mpgraph.quant.rewriting.dequantized import read_dequantized
from mpgraph.quant.rewriting.float_readers import per_channel
from mpgraph.quant.rewriting.pending import pending
from mpgraph.quant.rewriting.products import add_bias, gemm_bias, matrix_weight, step, take_factor
from mpgraph.quant.rewriting.unread import remove_unread
from mpgraph.quant.rewriting.weights import StoredWeight, WeightStore
from mpgraph.quant.rewriting.writer import Writer

__all__ = [
    "BiasWriter",
    "StoredWeight",
    "WeightStore",
    "Writer",
    "add_bias",
    "gemm_bias",
    "largest_per_scale",
    "matrix_weight",
    "pending",
    "per_channel",
    "put_constant",
    "read_dequantized",
    "remove_unread",
    "step",
    "take_factor",
]
