"""Maps written as policy files."""

from __future__ import annotations

import pytest
from hypothesis import given

from mpgraph.errors import PolicyError
from mpgraph.policy import PolicyMap, Rule, parse_policy, parse_policy_text, policy_text
from tests.policy.random_maps import policy_maps
from tests.policy.test_files import EXAMPLE

WRITTEN = """\
version = 1
default = "mixed_float16"

[[rule]]
scope  = "encoder/layers.*/self_attn/**"
op     = "Softmax"
policy = "float32"
reason = "logits overflow"

[[rule]]
name     = "re:.*/lm_head/.*"
policy   = "int8_from_float32"
optional = true
"""


@given(policy_maps())
def test_what_is_written_is_read_back_equal(policies):
    text = policy_text(policies)
    read = parse_policy_text(text)
    assert read == policies
    assert read.rules == policies.rules
    assert policy_text(read) == text


def test_the_example_as_it_is_written():
    assert policy_text(parse_policy_text(EXAMPLE)) == WRITTEN
    assert policy_text(PolicyMap("float32")) == 'version = 1\ndefault = "float32"\n'
    scaled = policy_text(PolicyMap("float32", range_scaling=True))
    assert scaled == 'version       = 1\ndefault       = "float32"\nrange_scaling = true\n'


def test_long_lists_have_a_line_per_item():
    names = [f"/encoder/layers.{index}/MatMul" for index in range(5)]
    rules = "".join(f'"{name}",' for name in names)
    text = f'version = 1\ndefault = "float32"\n[[rule]]\nname = [{rules}]\npolicy = "float16"\n'
    written = policy_text(parse_policy_text(text))
    assert '\n    "/encoder/layers.0/MatMul",\n    "/encoder/layers.1/MatMul",\n' in written
    assert max(map(len, written.splitlines())) < 100


def test_expressions_stay_readable():
    assert "path   = 're:a\\.b\\d+'" in policy_text(
        PolicyMap("float32", {r"re:a\.b\d+": "float16"})
    )


def test_what_has_no_form_in_a_file_is_refused():
    with pytest.raises(PolicyError, match="a rule without conditions"):
        policy_text(PolicyMap("float32", [Rule(parse_policy("float16"))]))
    with pytest.raises(PolicyError, match="UTF-8"):
        policy_text(PolicyMap("float32", {"a\ud800": "float16"}))
