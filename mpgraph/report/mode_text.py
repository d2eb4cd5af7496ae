"""A quantization mode in words."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph.policy import QuantizationMode

__all__ = ["MODE_SUMMARIES", "mode_facts"]

MODE_SUMMARIES = (
    (("int8",), "8-bit weights and activations, static or else dynamic"),
    (("int8_dynamic",), "8-bit weights, activations scaled when the model runs"),
    (("int8_weight",), "8-bit weights only"),
    (("int8_a16",), "8-bit weights, 16-bit activations"),
    (("int4", "int4/BLOCK"), "4-bit weights only, a scale per channel or per BLOCK"),
    (("uint4", "uint4/BLOCK"), "4-bit weights only, with a zero point"),
    (("float8", "float8_dynamic"), "float8 e4m3 weights and activations, static or dynamic"),
    (("gptq/BITS/GROUP",), "2, 3, 4 or 8-bit weights, errors made up for; needs data"),
    (("awq/4/GROUP",), "4-bit weights scaled by their activations; needs data"),
)
"""The forms of modes, those of one kind together, and one line about them."""

_ALGORITHMS = {
    "nearest": "to the nearest, half to even",
    "gptq": "column by column, each error made up for in the columns that follow (gptq)",
    "awq": "after weights are multiplied, and activations divided, where activations are large "
    "(awq); to the nearest",
}
_OBSERVERS = {
    "minmax": "the least and the greatest value seen",
    "moving_average": "a moving average of the extremes of each batch",
    "percentile": "percentiles of the values seen",
    "entropy": "the range that loses least information (Kullback-Leibler)",
    "mse": "the range with the least squared error",
}
_LARGEST = {"float8e4m3fn": 448, "float8e5m2": 57344}


def mode_facts(mode: QuantizationMode) -> Iterator[tuple[str, str]]:
    """The fields of a mode as (label, text), in the order of reading."""
    yield "quantization", mode.name
    yield "weights", _weights(mode)
    yield "rounding", _rounding(mode)
    yield "activations", _activations(mode)
    if mode.ranges == "static":
        yield "ranges", f"from calibration data: {_OBSERVERS[mode.observer or 'minmax']}"
    if mode.ranges == "dynamic":
        yield "ranges", "from each input, when the model runs"
    if mode.fallback is not None:
        fallback = mode.fallback
        yield "without ranges", f"{fallback.name}: activations {_activations(fallback)}"
    if mode.algorithm != "nearest":
        yield "without data", "refused: this rounding needs calibration data"
    yield "scales", "float32, 1 over the scale that Keras keeps"


def _weights(mode: QuantizationMode) -> str:
    where = {
        "tensor": "one scale per tensor",
        "axis": "one scale per output channel (per row of an embedding)",
        "block": f"one scale per {mode.block_size} elements of the input dimension, "
        "the last block may be shorter",
    }[mode.weight_granularity]
    return f"{_format(mode.weight_dtype, mode)}, {where}; {_weight_formula(mode)}"


def _format(dtype: str, mode: QuantizationMode) -> str:
    if mode.weight_dtype.startswith("float"):
        return dtype
    used = "" if dtype.endswith(f"int{mode.weight_bits}") else f" ({mode.weight_bits} bits used)"
    return f"{dtype}{used}, {'symmetric' if mode.weight_symmetric else 'asymmetric'}"


def _weight_formula(mode: QuantizationMode) -> str:
    largest = _LARGEST.get(mode.weight_dtype)
    if largest is not None:
        return f"scale = amax / {largest}, saturated"
    half = 2 ** ((mode.weight_bits or 8) - 1)
    if not mode.weight_symmetric:
        return f"scale = (max - min) / {2 * half - 1}, with 0 in the range"
    lowest = half - 1 if mode.narrow_range else half
    return f"scale = amax / {half - 1}, -{lowest}..{half - 1}"


def _rounding(mode: QuantizationMode) -> str:
    order = ", by falling activation" if mode.activation_order else ""
    return f"{_ALGORITHMS[mode.algorithm]}{order}"


def _activations(mode: QuantizationMode) -> str:
    if mode.activation_dtype is None:
        return "in the compute dtype"
    where = "tensor" if mode.activation_granularity == "tensor" else "row of the last axis"
    return f"{mode.activation_dtype}, {_symmetry(mode)}one scale per {where}; {_formula(mode)}"


def _symmetry(mode: QuantizationMode) -> str:
    if mode.activation_dtype in _LARGEST:
        return ""
    return "symmetric, " if mode.activation_symmetric else "asymmetric, "


def _formula(mode: QuantizationMode) -> str:
    dtype = mode.activation_dtype or ""
    if dtype in _LARGEST:
        return f"scale = amax / {_LARGEST[dtype]}"
    steps = 2 ** int(dtype.partition("int")[2]) - 1
    return (
        f"scale = amax / {steps // 2}"
        if mode.activation_symmetric
        else (f"scale = (max - min) / {steps}")
    )
