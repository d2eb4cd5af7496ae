from __future__ import annotations

import pytest

import models
import mpgraph
from mpgraph.errors import ConversionError, NothingQuantizedError


def refusal(name, policy, **options):
    with pytest.raises(NothingQuantizedError) as caught:
        mpgraph.convert(models.build(name), policy, verify="structure", **options)
    return caught.value


def test_it_says_where_why_and_what_to_do():
    error = refusal("mlp", "int8_from_float32", target="cuda")
    assert isinstance(error, ConversionError)
    assert error.exit_status == 1
    assert error.where == "policy 'int8_from_float32'"
    assert error.rule.startswith("0 of 3 quantizable nodes are quantized: the CUDA provider")
    assert "int8_weight" in error.hint and "allow-slow" in error.hint


def test_a_model_without_products_has_nothing_to_quantize():
    error = refusal("chain", "int8_from_float32")
    assert "selects no node that multiplies by a weight" in error.rule
    assert error.hint == ""


def test_no_hint_asks_for_what_was_done():
    error = refusal("detector", "int8_weight_from_float32")
    assert "int8_weight" not in error.hint
    assert "dequantize its weight each time" in error.rule


def test_the_hint_of_another_policy_is_true():
    result = mpgraph.convert(
        models.build("mlp"), "int8_weight_from_float32", target="cuda", verify="structure"
    )
    assert result.quantization.quantized == 3
