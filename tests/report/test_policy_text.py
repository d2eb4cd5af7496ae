"""A policy in words says what its fields say."""

from __future__ import annotations

import re

import pytest

from mpgraph.policy import (
    MODE_FORMS,
    POLICY_NAMES,
    QuantizationMode,
    QuantizedDTypePolicy,
    parse_policy,
)
from mpgraph.report.mode_text import MODE_SUMMARIES
from mpgraph.report.policy_text import policy_facts

MODES = (
    *("int8", "int8_dynamic", "int8_weight", "int8_a16", "int4", "int4/-1", "int4/32"),
    *("uint4", "uint4/64", "float8", "float8_dynamic", "gptq/3/-1", "gptq/8/128", "awq/4/128"),
)
NAMES = [*POLICY_NAMES, *(f"{mode}_from_mixed_float16" for mode in MODES)]


def text_of(name: str) -> str:
    return "\n".join(f"{label}: {text}" for label, text in policy_facts(parse_policy(name)))


@pytest.mark.parametrize("name", NAMES)
def test_dtypes_and_mode_are_said(name: str) -> None:
    policy = parse_policy(name)
    text = text_of(name)
    assert f"computes in: {policy.compute_dtype}" in text
    assert f"variables in: {policy.variable_dtype}" in text
    assert f"quantization: {'none' if policy.mode is None else policy.mode.name}\n" in f"{text}\n"
    assert ("stays float32" in text) == (policy.compute_dtype in ("float16", "bfloat16"))
    assert ("not available" in text) == (policy.mode is not None)
    assert all(label and words for label, words in policy_facts(policy))


@pytest.mark.parametrize(
    ("mode", "formula"),
    [
        (
            "int8",
            "weights: int8, symmetric, one scale per output channel .*scale = amax / 127, -127..127",
        ),
        ("int8", "activations: int8, asymmetric, one scale per tensor; scale = .max - min. / 255"),
        (
            "int8",
            "without ranges: int8_dynamic: .*symmetric, one scale per row of the last axis; scale = amax / 127",
        ),
        ("int8_a16", "activations: uint16, asymmetric, .*scale = .max - min. / 65535"),
        ("int8_a16", "without ranges: int8_weight: activations in the compute dtype"),
        ("int8_weight", "activations: in the compute dtype"),
        ("int4", "scale = amax / 7, -8..7"),
        (
            "int4/32",
            "int4, asymmetric, one scale per 32 elements .*scale = .max - min. / 15, with 0 in the range",
        ),
        ("float8", "scale = amax / 448, saturated"),
        (
            "gptq/3/-1",
            "uint4 .3 bits used., asymmetric, one scale per output channel .*/ 7, with 0",
        ),
        ("gptq/8/128", "uint8, asymmetric, one scale per 128 elements .*/ 255, with 0"),
        ("gptq/8/128", "without data: refused"),
        ("awq/4/128", "rounding: .*awq"),
    ],
)
def test_formulas(mode: str, formula: str) -> None:
    assert re.search(formula, text_of(f"{mode}_from_float32"))


@pytest.mark.parametrize("observer", ["minmax", "moving_average", "percentile", "entropy", "mse"])
def test_a_mode_built_by_hand_is_explained(observer) -> None:
    mode = QuantizationMode(
        name="mine",
        activation_dtype="int16",
        activation_symmetric=True,
        observer=observer,
        algorithm="gptq",
        activation_order=True,
    )
    text = dict(policy_facts(QuantizedDTypePolicy(mode, "float32")))
    assert text["quantization"] == "mine"
    assert text["activations"] == "int16, symmetric, one scale per tensor; scale = amax / 32767"
    assert "calibration" in text["ranges"]
    assert "falling activation" in text["rounding"]


def test_every_form_has_a_line_that_is_short() -> None:
    assert [form for forms, _ in MODE_SUMMARIES for form in forms] == list(MODE_FORMS)
    assert all(len(summary) <= 56 for _, summary in MODE_SUMMARIES)
