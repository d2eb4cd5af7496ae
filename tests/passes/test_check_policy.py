"""Rules are held against the model as it was given."""

from __future__ import annotations

import pytest
from onnx import parser

import mpgraph

NEEDLESS_CAST = """
<ir_version: 10, opset_import: ["": 21]>
g (float[2] x) => (float[2] y) { c = Cast <to = 1> (x) y = Relu (c) }
"""


def test_a_rule_may_name_a_node_that_is_folded_away():
    policy = mpgraph.PolicyMap("float32", {"op:Cast": "mixed_float16"})
    result = mpgraph.convert(parser.parse_model(NEEDLESS_CAST), policy, allow_slow=True)
    assert [node.op_type for node in result.model.graph] == ["Relu"]


def test_a_rule_that_matches_nothing_is_refused():
    policy = mpgraph.PolicyMap("float32", {"op:Softmax": "mixed_float16"})
    with pytest.raises(mpgraph.PolicyError, match="op:Softmax"):
        mpgraph.convert(parser.parse_model(NEEDLESS_CAST), policy)
