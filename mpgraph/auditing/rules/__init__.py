"""The rules of the audit: one per file, one line each in the table."""

from __future__ import annotations

from collections.abc import Mapping

from mpgraph.auditing.rules import (
    activation_overflow,
    activation_underflow,
    bad_scale,
    bias_scale,
    constant_overflow,
    constant_underflow,
    contradicting_type,
    decomposed_normalization,
    duplicate_node_name,
    epsilon_lost,
    ill_conditioned,
    infinite_mask,
    initializer_input,
    integer_in_float,
    long_accumulation,
    lossy_cast_pair,
    missing_axis,
    needless_cast,
    no_kernel,
    outside_data,
    removable_cast_pair,
    runs_elsewhere,
    saturating_weight,
    unfused_quantizer,
    unnamed_node,
    zero_point,
)
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULES", "Found", "Rule"]

RULES: Mapping[str, Rule] = {
    "MPG101": constant_overflow.RULE,
    "MPG102": constant_underflow.RULE,
    "MPG103": activation_overflow.RULE,
    "MPG104": activation_underflow.RULE,
    "MPG105": integer_in_float.RULE,
    "MPG106": long_accumulation.RULE,
    "MPG107": infinite_mask.RULE,
    "MPG108": epsilon_lost.RULE,
    "MPG109": decomposed_normalization.RULE,
    "MPG110": ill_conditioned.RULE,
    "MPG201": lossy_cast_pair.RULE,
    "MPG202": removable_cast_pair.RULE,
    "MPG203": needless_cast.RULE,
    "MPG301": unfused_quantizer.RULE,
    "MPG302": bias_scale.RULE,
    "MPG303": bad_scale.RULE,
    "MPG304": saturating_weight.RULE,
    "MPG305": zero_point.RULE,
    "MPG306": missing_axis.RULE,
    "MPG401": no_kernel.RULE,
    "MPG402": runs_elsewhere.RULE,
    "MPG501": duplicate_node_name.RULE,
    "MPG502": unnamed_node.RULE,
    "MPG503": initializer_input.RULE,
    "MPG504": contradicting_type.RULE,
    "MPG505": outside_data.RULE,
}
"""Codes begin with their group: 1 numerics, 2 casts, 3 quantization, 4 target, 5 the model file."""
