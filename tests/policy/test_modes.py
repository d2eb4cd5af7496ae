"""Quantization modes: the standard ones, those built by hand, what contradicts itself."""

from __future__ import annotations

import dataclasses
import json

import pytest

from mpgraph.errors import PolicyError
from mpgraph.policy import (
    AWQ,
    GPTQ,
    MODE_FORMS,
    Float8,
    Int4,
    Int8,
    QuantizationMode,
    UInt4,
    parse_mode,
    parse_policy,
)

# Weight dtype, bits, symmetric, granularity, block size; activation dtype, symmetric, granularity,
# ranges; algorithm; fallback.
STANDARD = {
    "int8": (
        "int8",
        8,
        True,
        "axis",
        None,
        "int8",
        False,
        "tensor",
        "static",
        "nearest",
        "int8_dynamic",
    ),
    "int8_dynamic": (
        "int8",
        8,
        True,
        "axis",
        None,
        "int8",
        True,
        "axis",
        "dynamic",
        "nearest",
        None,
    ),
    "int8_weight": ("int8", 8, True, "axis", None, None, None, None, None, "nearest", None),
    "int8_a16": (
        "int8",
        8,
        True,
        "axis",
        None,
        "uint16",
        False,
        "tensor",
        "static",
        "nearest",
        "int8_weight",
    ),
    "int4": ("int4", 4, True, "axis", None, None, None, None, None, "nearest", None),
    "int4/-1": ("int4", 4, True, "axis", -1, None, None, None, None, "nearest", None),
    "int4/32": ("int4", 4, False, "block", 32, None, None, None, None, "nearest", None),
    "uint4": ("uint4", 4, False, "axis", None, None, None, None, None, "nearest", None),
    "uint4/64": ("uint4", 4, False, "block", 64, None, None, None, None, "nearest", None),
    "float8": (
        "float8e4m3fn",
        8,
        True,
        "tensor",
        None,
        "float8e4m3fn",
        True,
        "tensor",
        "static",
        "nearest",
        "float8_dynamic",
    ),
    "float8_dynamic": (
        "float8e4m3fn",
        8,
        True,
        "tensor",
        None,
        "float8e4m3fn",
        True,
        "tensor",
        "dynamic",
        "nearest",
        None,
    ),
    "gptq/2/64": ("uint4", 2, False, "block", 64, None, None, None, None, "gptq", None),
    "gptq/3/-1": ("uint4", 3, False, "axis", -1, None, None, None, None, "gptq", None),
    "gptq/8/128": ("uint8", 8, False, "block", 128, None, None, None, None, "gptq", None),
    "awq/4/128": ("uint4", 4, False, "block", 128, None, None, None, None, "awq", None),
}


@pytest.mark.parametrize("name", STANDARD)
def test_standard_modes(name: str) -> None:
    mode = parse_mode(name)
    fallback = None if mode.fallback is None else mode.fallback.name
    assert STANDARD[name] == (
        mode.weight_dtype,
        mode.weight_bits,
        mode.weight_symmetric,
        mode.weight_granularity,
        mode.block_size,
        mode.activation_dtype,
        mode.activation_symmetric,
        mode.activation_granularity,
        mode.ranges,
        mode.algorithm,
        fallback,
    )
    assert mode.name == name
    assert mode.narrow_range == (mode.weight_dtype == "int8")
    assert mode.observer == ("minmax" if mode.ranges == "static" else None)
    assert mode.is_weight_only == (mode.activation_dtype is None)


def test_every_form_is_tested() -> None:
    numbers = {"int4/32": "int4/BLOCK", "uint4/64": "uint4/BLOCK"}
    numbers |= {"gptq/2/64": "gptq/BITS/GROUP", "awq/4/128": "awq/4/GROUP"}
    assert set(MODE_FORMS) <= {numbers.get(name, name) for name in STANDARD}


@pytest.mark.parametrize("name", STANDARD)
@pytest.mark.parametrize(
    "source", ["float32", "float16", "bfloat16", "float64", "mixed_float16", "mixed_bfloat16"]
)
def test_every_mode_combines_with_every_source(name: str, source: str) -> None:
    policy = parse_policy(f"{name}_from_{source}")
    assert policy.mode == parse_mode(name)
    assert policy.compute_dtype == parse_policy(source).compute_dtype
    assert policy.variable_dtype == parse_policy(source).variable_dtype
    assert policy.quantization_mode == name.partition("/")[0]


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (Int8(), "int8"),
        (Int4(), "int4"),
        (Int4(-1), "int4/-1"),
        (Int4(32), "int4/32"),
        (UInt4(), "uint4"),
        (UInt4(64), "uint4/64"),
        (Float8(), "float8"),
        (GPTQ(), "gptq/4/128"),
        (GPTQ(3, -1), "gptq/3/-1"),
        (AWQ(), "awq/4/128"),
        (AWQ(32), "awq/4/32"),
    ],
)
def test_modes_made_by_function(made: QuantizationMode, name: str) -> None:
    assert made == parse_mode(name)
    assert hash(made) == hash(parse_mode(name))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Int4(0),
        lambda: UInt4(-2),
        lambda: GPTQ(5),
        lambda: GPTQ(4, 0),
        lambda: AWQ(-3),
        lambda: parse_mode("int3"),
    ],
)
def test_numbers_that_no_mode_has(make) -> None:
    with pytest.raises(ValueError) as caught:
        make()
    assert isinstance(caught.value, PolicyError)


@pytest.mark.parametrize("name", [*STANDARD, "by hand"])
def test_config_round_trip(name: str) -> None:
    by_hand = QuantizationMode(activation_dtype="int16", observer="percentile", fallback=Int4(32))
    mode = by_hand if name == "by hand" else parse_mode(name)
    config = json.loads(json.dumps(mode.get_config()))
    assert QuantizationMode.from_config(config) == mode
    assert config == mode.get_config()


def test_frozen_and_varied_by_replace() -> None:
    mode = Int4(32)
    with pytest.raises(AttributeError):
        mode.block_size = 64
    varied = dataclasses.replace(mode, name="mine", block_size=64)
    assert (varied.block_size, mode.block_size) == (64, 32)
    assert varied != mode


def test_names_of_float8_as_ml_dtypes_has_them() -> None:
    mode = QuantizationMode(weight_dtype="float8_e5m2", activation_dtype="float8_e4m3fn")
    assert (mode.weight_dtype, mode.activation_dtype) == ("float8e5m2", "float8e4m3fn")


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"weight_dtype": "int3"}, "weight_dtype = 'int3'"),
        ({"weight_dtype": "float16"}, "weight_dtype"),
        ({"weight_bits": 9}, "weight_bits = 9"),
        ({"weight_bits": 1}, "weight_bits"),
        ({"weight_dtype": "float8e4m3fn", "weight_bits": 7}, "weight_bits"),
        ({"weight_dtype": "float8e4m3fn", "weight_symmetric": False}, "weight_symmetric"),
        ({"weight_symmetric": False, "narrow_range": True}, "narrow_range"),
        ({"weight_granularity": "channel"}, "weight_granularity = 'channel'"),
        ({"weight_granularity": "block"}, "block_size = None"),
        ({"weight_granularity": "block", "block_size": 0}, "block_size = 0"),
        ({"block_size": 32}, "block_size = 32"),
        ({"algorithm": "adaround"}, "algorithm"),
        ({"activation_order": True}, "activation_order"),
        ({"activation_dtype": "int4"}, "activation_dtype = 'int4'"),
        (
            {"activation_dtype": "float8e4m3fn", "activation_symmetric": False},
            "activation_symmetric",
        ),
        ({"activation_dtype": "int8", "activation_granularity": "axis"}, "activation_granularity"),
        ({"activation_dtype": "int8", "ranges": "guessed"}, "ranges = 'guessed'"),
        ({"activation_dtype": "int8", "ranges": "dynamic", "observer": "mse"}, "observer"),
        ({"activation_dtype": "int8", "observer": "best"}, "observer = 'best'"),
        ({"observer": "mse"}, "observer"),
        ({"ranges": "static"}, "ranges"),
        ({"fallback": Int4()}, "fallback"),
        ({"name": ""}, "name"),
        ({"name": "int8_from_float32"}, "name"),
    ],
)
def test_what_contradicts_itself(fields: dict, shown: str) -> None:
    with pytest.raises(ValueError) as caught:
        QuantizationMode(**fields)
    assert isinstance(caught.value, PolicyError)
    assert shown in str(caught.value)


@pytest.mark.parametrize(
    "fields",
    [
        {"name": 8},
        {"weight_dtype": 8},
        {"weight_bits": "8"},
        {"weight_symmetric": 1},
        {"weight_granularity": "block", "block_size": 32.0},
        {"weight_granularity": "block", "block_size": True},
        {"activation_dtype": "int8", "activation_symmetric": "yes"},
        {"activation_dtype": "int8", "fallback": "int4"},
    ],
)
def test_wrong_types(fields: dict) -> None:
    with pytest.raises(TypeError) as caught:
        QuantizationMode(**fields)
    assert isinstance(caught.value, PolicyError)


def test_bad_configs() -> None:
    with pytest.raises(ValueError, match="'bits'"):
        QuantizationMode.from_config({"bits": 4})
    with pytest.raises(TypeError, match="no config"):
        QuantizationMode.from_config("int8")
    with pytest.raises(TypeError, match="is no mode"):
        parse_mode(8)
