"""What is decided from samples of activations: forms by their error, smoothing, biases."""

from mpgraph.quant.tuning.absorption import Absorber, find_absorbers
from mpgraph.quant.tuning.bias_places import BiasPlace, find_bias_place
from mpgraph.quant.tuning.error import (
    RangeForm,
    approximated,
    form_errors,
    product_error,
    row_error,
    weight_rounded,
)
from mpgraph.quant.tuning.products import Product, find_products
from mpgraph.quant.tuning.rows import ActivationRows, Rows
from mpgraph.quant.tuning.smoothing import smoothing_factors
from mpgraph.quant.tuning.spared import spared_parts
from mpgraph.quant.tuning.switches import Switches, add_switches

__all__ = [
    "Absorber",
    "ActivationRows",
    "BiasPlace",
    "Product",
    "RangeForm",
    "Rows",
    "Switches",
    "add_switches",
    "approximated",
    "find_absorbers",
    "find_bias_place",
    "find_products",
    "form_errors",
    "product_error",
    "row_error",
    "smoothing_factors",
    "spared_parts",
    "weight_rounded",
]
