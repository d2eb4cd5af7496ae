"""Which operators a default policy pins."""

from __future__ import annotations

import onnx

import mpgraph.policy
from mpgraph.policy import LOW_OPERATORS, parse_policy, pinned_by_default


def test_mixed_policy_pins_what_gains():
    mixed = parse_policy("mixed_float16")
    assert pinned_by_default(mixed, "", "MatMul")
    assert pinned_by_default(mixed, "ai.onnx", "Conv")
    assert pinned_by_default(mixed, "com.microsoft", "FusedMatMul")
    assert not pinned_by_default(mixed, "", "FusedMatMul")
    assert not pinned_by_default(mixed, "", "Relu")


def test_pure_policies_pin_everything():
    for name in ("float16", "bfloat16", "float32", "int8_from_float16"):
        assert pinned_by_default(parse_policy(name), "", "Relu")


def test_standard_operators_exist():
    standard = {op for domain, op in LOW_OPERATORS if domain == ""}
    assert standard <= {schema.name for schema in onnx.defs.get_all_schemas()}


def test_public_names_exist():
    assert sorted(mpgraph.policy.__all__, key=str.lower) == sorted(
        set(mpgraph.policy.__all__), key=str.lower
    )
    assert all(hasattr(mpgraph.policy, name) for name in mpgraph.policy.__all__)
