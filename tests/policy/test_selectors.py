"""What each form of selector matches, and how specific it is."""

from __future__ import annotations

import pytest

from mpgraph.errors import PolicyError
from mpgraph.policy import NodeFacts, parse_selector

NODE = NodeFacts(
    name="/encoder/layers.0/attn/MatMul",
    op_type="MatMul",
    domain="",
    scope="encoder/layers.0/attn",
    initializers=("embed.weight", "bias"),
    alias="net/block/attn",
    key="main/If[0].then#3",
)
UNNAMED = NodeFacts("", "Softmax")

MATCHING = [
    "/encoder/layers.0/attn/MatMul",
    "name:/encoder/layers.0/attn/MatMul",
    "*MatMul",
    "*",
    "name:/encoder/*",
    "*layers.[0-3]/*",
    "*layers.[!1-3]/*",
    "/encoder/layers.?/attn/MatMul",
    "op:MatMul",
    "op:Mat*",
    "op:re:Mat(Mul|Add)",
    "domain:ai.onnx",
    "initializer:embed*",
    "initializer:bias",
    "scope:encoder/layers.0/attn",
    "scope:encoder.layers.0.attn",
    "scope:/encoder/layers/0/attn/",
    "scope:encoder/**",
    "scope:**",
    "scope:**/attn",
    "scope:encoder/**/attn",
    "scope:encoder/layers.*/attn/**",
    "scope:encoder/layers.0/attn/**",
    "scope:*/*/*/attn",
    "scope:enc**",
    "scope:re:encoder/layers\\.\\d/attn",
    "scope:re:encoder/layers/\\d/attn",
    "re:.*attn.*",
    "re:encoder/.*attn",
    "re:/encoder/.*MatMul",
    "name:re:.*/attn/.*",
    "key:main/If[0].then#3",
    "scope:net/block/attn",
    "scope:net/**",
    "re:net/block/attn",
]
NOT_MATCHING = [
    "MatMul",
    "name:matmul",
    "*matmul",
    "/encoder/layers/0/attn/MatMul",
    "op:matmul",
    "op:Softmax",
    "domain:com.microsoft",
    "initializer:embed",
    "initializer:weight",
    "key:main",
    "key:main/If*",
    "key:re:.*",
    "scope:net",
    "scope:encoder",
    "scope:encoder/*",
    "scope:encoder/*/attn",
    "scope:attn",
    "scope:ncoder/**",
    "scope:re:encoder",
    "re:attn",
    "re:layers.*",
    "name:re:encoder/layers.0/attn",
    "name:op:MatMul",
]


@pytest.mark.parametrize("selector", MATCHING)
def test_matches(selector):
    assert parse_selector(selector, "float32").matches(NODE)


@pytest.mark.parametrize("selector", NOT_MATCHING)
def test_does_not_match(selector):
    assert not parse_selector(selector, "float32").matches(NODE)


@pytest.mark.parametrize(
    "selector", ["*", "name:*", "re:.*", "name:re:.*", "[!x]*", "scope:**", "initializer:*", "?"]
)
def test_what_a_node_does_not_have_is_never_matched(selector):
    assert not parse_selector(selector, "float32").matches(UNNAMED)


def test_name_with_brackets_can_be_given_literally():
    rule = parse_selector("conv[0]", "float32")
    assert rule.matches(NodeFacts("conv[0]", "Conv"))
    assert rule.matches(NodeFacts("conv0", "Conv"))


def test_unclosed_bracket_and_backslash_are_literal():
    assert parse_selector("a[b*", "float32").matches(NodeFacts("a[bc", "Add"))
    assert parse_selector("a\\[*", "float32").matches(NodeFacts("a\\[c", "Add"))
    assert parse_selector("x[\\]", "float32").matches(NodeFacts("x\\", "Add"))


def test_standard_domain_has_two_spellings():
    rule = parse_selector("domain:ai.onnx", "float32")
    assert rule.matches(NodeFacts("a", "Add", domain="ai.onnx"))
    assert rule.matches(NodeFacts("a", "Add", domain=""))


def test_colon_in_a_plain_name():
    assert parse_selector("block:0", "float32").matches(NodeFacts("block:0", "Add"))
    assert parse_selector("name:op:x", "float32").matches(NodeFacts("op:x", "Add"))


@pytest.mark.parametrize("selector", ["", "op:", "name:", "scope:", "scope:/", "re:", "domain:re:"])
def test_empty_selectors_are_refused(selector):
    with pytest.raises(ValueError) as caught:
        parse_selector(selector, "float32")
    assert isinstance(caught.value, PolicyError)


@pytest.mark.parametrize("expression", ["re:(", "scope:re:[", "name:re:*", "re:a{2,1}", "op:re:("])
def test_bad_expression_fails_at_construction(expression):
    with pytest.raises(ValueError, match="does not compile") as caught:
        parse_selector(expression, "float32")
    assert expression in str(caught.value)


@pytest.mark.parametrize("glob", ["a[z-a]", "[]", "[!]", "a[]b]", "a[^b]", "**", "scope:a[/b]"])
def test_odd_globs_compile_or_are_refused_clearly(glob):
    try:
        parse_selector(glob, "float32")
    except PolicyError as error:
        assert glob in str(error)


def test_specificity_falls_from_exact_name_to_operator():
    ranks = [
        parse_selector(selector, "float32").specificity
        for selector in ("a/b", "scope:a/b", "*b", "op:Add")
    ]
    assert ranks == sorted(ranks, reverse=True)
    assert len(set(ranks)) == len(ranks)
    same = ("*b", "re:.*b", "scope:a/**", "initializer:w*")
    assert len({parse_selector(selector, "float32").specificity for selector in same}) == 1
    assert (
        parse_selector("op:Add", "float32").specificity
        == parse_selector("domain:ai.onnx", "float32").specificity
    )


def test_selector_text_round_trips():
    for text in ("name:a*", "scope:a/**", "op:Add", "domain:com.microsoft", "re:a.*"):
        assert parse_selector(text, "float32").selector == text
    assert parse_selector("plain", "float32").selector == "name:plain"
