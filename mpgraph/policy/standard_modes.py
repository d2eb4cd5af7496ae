"""The quantization modes that have a name, and what fixes each of their values."""

from __future__ import annotations

from mpgraph.errors import PolicyTypeError, PolicyValueError
from mpgraph.policy.grammar import ACCEPTED, MODE_FORMS, match_mode
from mpgraph.policy.modes import Algorithm, QuantizationMode

__all__ = ["AWQ", "GPTQ", "Float8", "Int4", "Int8", "UInt4", "parse_mode"]


def Int8() -> QuantizationMode:
    """8-bit weights and activations: static ranges where they are known, else `int8_dynamic`.

    Weights as in Keras: scale = amax / 127 per output channel, -127..127. Static activations take
    the whole range from the least to the greatest value seen, extended to hold 0:
    scale = (max - min) / 255.
    """
    return QuantizationMode(
        name="int8",
        weight_dtype="int8",
        narrow_range=True,
        activation_dtype="int8",
        fallback=_int8_dynamic(),
    )


def Int4(block_size: int | None = None) -> QuantizationMode:
    """4-bit weights, activations untouched.

    As in Keras. With a block size: blocks of the input dimension, asymmetric,
    scale = (max - min) / 15 with 0 in the range. Without, or with -1: symmetric per output
    channel, scale = amax / 7, saturated to -8..7.

    Args:
        block_size: Elements per scale, -1 or None for one scale per output channel.
    """
    return _four_bits("int4", block_size, symmetric=block_size in (None, -1))


def UInt4(block_size: int | None = None) -> QuantizationMode:
    """4-bit weights 0..15 with a zero point, activations untouched.

    scale = (max - min) / 15 with 0 in the range, per block of the input dimension or per output
    channel. This is the form that MatMulNBits takes.

    Args:
        block_size: Elements per scale, -1 or None for one scale per output channel.
    """
    return _four_bits("uint4", block_size, symmetric=False)


def Float8() -> QuantizationMode:
    """float8 e4m3fn weights and activations per tensor; without ranges `float8_dynamic`.

    As in Keras: scale = amax / 448, saturated.
    """
    return QuantizationMode(
        name="float8",
        weight_dtype="float8e4m3fn",
        weight_granularity="tensor",
        activation_dtype="float8e4m3fn",
        fallback=_float8_dynamic(),
    )


def GPTQ(bits: int = 4, group_size: int = 128) -> QuantizationMode:
    """Weights rounded column by column, each error made up for in the columns that follow.

    Needs calibration data. As in Keras: asymmetric, 2, 3, 4 or 8 bits. Kept as uint4 (uint8 for
    8 bits) with a scale and a zero point per group.

    Args:
        bits: Bits per weight.
        group_size: Elements of the input dimension per scale, -1 for one scale per output channel.
    """
    return parse_mode(f"gptq/{bits}/{group_size}")


def AWQ(group_size: int = 128) -> QuantizationMode:
    """4-bit weights, scaled up beforehand where the activations are large.

    Needs calibration data. As in Keras: W * a is rounded, asymmetric, and activations are divided
    by a. Kept as uint4 with a scale and a zero point per group.

    Args:
        group_size: Elements of the input dimension per scale, -1 for one scale per output channel.
    """
    return parse_mode(f"awq/4/{group_size}")


def parse_mode(text: str) -> QuantizationMode:
    """Return the standard mode of a text such as `int8_a16` or `gptq/4/128`.

    Raises:
        PolicyTypeError: No text was given.
        PolicyValueError: The text is no standard mode.
    """
    if not isinstance(text, str):
        raise PolicyTypeError("quantization mode", f"{text!r} is no mode", ACCEPTED)
    match = match_mode(text)
    if match is None:
        raise PolicyValueError(
            "quantization mode",
            f"{text!r} is no quantization mode",
            f"accepted: {', '.join(MODE_FORMS)}",
        )
    if match["plain"]:
        return _PLAIN[match["plain"]]
    if match["four"]:
        size = int(match["block"])
        return Int4(size) if match["four"] == "int4" else UInt4(size)
    if match["gptq_bits"]:
        return _grouped(text, "gptq", int(match["gptq_bits"]), int(match["gptq_group"]))
    return _grouped(text, "awq", 4, int(match["awq_group"]))


def _int8_dynamic() -> QuantizationMode:
    """As in Keras: activations at run time, scale = amax / 127 per row of the last axis."""
    return QuantizationMode(
        name="int8_dynamic",
        weight_dtype="int8",
        narrow_range=True,
        activation_dtype="int8",
        activation_symmetric=True,
        activation_granularity="axis",
        ranges="dynamic",
    )


def _int8_weight() -> QuantizationMode:
    return QuantizationMode(name="int8_weight", weight_dtype="int8", narrow_range=True)


def _int8_a16() -> QuantizationMode:
    """16 bits need static ranges; nothing fuses them dynamically, so weights alone are left."""
    return QuantizationMode(
        name="int8_a16",
        weight_dtype="int8",
        narrow_range=True,
        activation_dtype="uint16",
        fallback=_int8_weight(),
    )


def _float8_dynamic() -> QuantizationMode:
    return QuantizationMode(
        name="float8_dynamic",
        weight_dtype="float8e4m3fn",
        weight_granularity="tensor",
        activation_dtype="float8e4m3fn",
        ranges="dynamic",
    )


def _four_bits(kind: str, block_size: int | None, *, symmetric: bool) -> QuantizationMode:
    whole = block_size in (None, -1)
    return QuantizationMode(
        name=kind if block_size is None else f"{kind}/{block_size}",
        weight_dtype=kind,
        weight_symmetric=symmetric,
        weight_granularity="axis" if whole else "block",
        block_size=block_size,
    )


def _grouped(name: str, algorithm: Algorithm, bits: int, group_size: int) -> QuantizationMode:
    return QuantizationMode(
        name=name,
        weight_dtype="uint8" if bits == 8 else "uint4",
        weight_bits=bits,
        weight_symmetric=False,
        weight_granularity="axis" if group_size == -1 else "block",
        block_size=group_size,
        algorithm=algorithm,
    )


_PLAIN = {
    mode.name: mode
    for mode in (
        Int8(),
        _int8_dynamic(),
        _int8_weight(),
        _int8_a16(),
        Int4(),
        UInt4(),
        Float8(),
        _float8_dynamic(),
    )
}
