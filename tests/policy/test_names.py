"""Policy names against the table of what Keras accepts, with the errors made clearer."""

from __future__ import annotations

import pytest

from mpgraph.errors import PolicyError
from mpgraph.policy import DTypePolicy, nearest_names, parse_policy

ACCEPTED = [
    ("float32", "float32", "float32", None, None, None),
    ("float16", "float16", "float16", None, None, None),
    ("bfloat16", "bfloat16", "bfloat16", None, None, None),
    ("float64", "float64", "float64", None, None, None),
    ("mixed_float16", "float16", "float32", None, None, None),
    ("mixed_bfloat16", "bfloat16", "float32", None, None, None),
    ("int8_from_float32", "float32", "float32", "int8", 8, None),
    ("int8_from_mixed_bfloat16", "bfloat16", "float32", "int8", 8, None),
    ("int8_from_bfloat16", "bfloat16", "bfloat16", "int8", 8, None),
    ("float8_from_mixed_float16", "float16", "float32", "float8", 8, None),
    ("int4_from_mixed_float16", "float16", "float32", "int4", 4, None),
    ("int4/128_from_float32", "float32", "float32", "int4", 4, 128),
    ("int4/-1_from_float32", "float32", "float32", "int4", 4, -1),
    ("gptq/4/128_from_float32", "float32", "float32", "gptq", 4, 128),
    ("gptq/8/-1_from_float32", "float32", "float32", "gptq", 8, -1),
    ("awq/4/-1_from_float32", "float32", "float32", "awq", 4, -1),
]

MALFORMED = [
    *("mixed_float32", "FLOAT32", "float32 ", " float32", "", "half", "float", "float16\n"),
    *("int8_from_foo", "int8x_from_float32", "int16x_from_float32", "int8_from_", "_from_float32"),
    *("int8_from_int8_from_float32", "int4/0_from_float32", "int4/x_from_float32"),
    *(
        "int8/128_from_float32",
        "int4/-2_from_float32",
        "int4/1.5_from_float32",
        "int4/_from_float32",
    ),
    *("int4/01_from_float32", "int4/\u0661_from_float32", "gptq/5/128_from_float32"),
    *("gptq/4_from_float32", "gptq/4/0_from_float32", "awq/8/128_from_float32"),
    *("awq_from_float32", "int8_from_mixed_float32", "INT8_from_float32"),
]


@pytest.mark.parametrize(("name", "compute", "variable", "mode", "bits", "block"), ACCEPTED)
def test_accepted_names(name, compute, variable, mode, bits, block):
    policy = parse_policy(name)
    assert (policy.name, policy.compute_dtype, policy.variable_dtype) == (name, compute, variable)
    assert (policy.quantization_mode, policy.bits, policy.block_size) == (mode, bits, block)
    assert policy.is_mixed == (compute != variable)
    assert parse_policy(policy) is policy
    assert hash(policy) == hash(parse_policy(name))


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_names_are_value_errors_that_list_what_is_accepted(text):
    with pytest.raises(ValueError, match="accepted") as caught:
        parse_policy(text)
    assert isinstance(caught.value, PolicyError)
    assert repr(text) in str(caught.value)
    assert "mixed_bfloat16" in str(caught.value)


@pytest.mark.parametrize("mode", ["int8", "float8", "int4/128"])
def test_mode_without_source_shows_how_to_write_it(mode):
    with pytest.raises(ValueError, match=f"{mode}_from_float32"):
        parse_policy(mode)


def test_near_miss_is_suggested():
    with pytest.raises(PolicyError, match="did you mean mixed_float16"):
        parse_policy("mixed_flaot16")


@pytest.mark.parametrize("value", [16, None, 1.0, b"float32", ["float32"]])
def test_other_types_are_type_errors(value):
    with pytest.raises(TypeError) as caught:
        parse_policy(value)
    assert isinstance(caught.value, PolicyError)


@pytest.mark.parametrize("value", [16, 1.0, b"float32", ["float32"]])
def test_a_policy_of_something_else_is_a_type_error(value):
    with pytest.raises(TypeError) as caught:
        DTypePolicy(value)
    assert repr(value) in str(caught.value)
    assert "mixed_bfloat16" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("mixed_flaot16", "mixed_float16"),
        ("int8", "int8_from_float32"),
        ("int8_dynamc_from_float32", "int8_dynamic_from_float32"),
        ("gptq/4/128", "gptq/4/128_from_float32"),
    ],
)
def test_nearest_names(text, nearest):
    assert nearest_names(text)[0] == nearest


def test_nothing_is_near_to_anything():
    assert nearest_names("?") == []
