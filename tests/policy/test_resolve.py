"""Which rule wins, what conflicts, and what must match."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpgraph.errors import PolicyError
from mpgraph.policy import (
    NodeFacts,
    PolicyMap,
    Resolver,
    Rule,
    compile_condition,
    parse_policy,
    parse_selector,
)
from mpgraph.policy.files import parse_policy_text
from mpgraph.policy.index import PatternIndex


def policy_of(rules, facts, default="float64"):
    return Resolver(PolicyMap(default, rules)).resolve(facts).policy.name


def test_default_is_not_explicit():
    resolution = Resolver("mixed_float16").resolve(NodeFacts("a", "Add"))
    assert resolution.policy == parse_policy("mixed_float16")
    assert resolution.rule is None
    assert not resolution.explicit


def test_rule_is_explicit_even_when_it_equals_the_default():
    resolution = Resolver(PolicyMap("float32", {"a": "float32"})).resolve(NodeFacts("a", "Add"))
    assert resolution.explicit
    assert resolution.rule.selector == "name:a"


def test_most_specific_wins_in_any_order():
    rules = {
        "op:Add": "float32",
        "enc*": "float16",
        "scope:enc": "mixed_float16",
        "enc/add": "bfloat16",
    }
    for ordered in (rules, dict(reversed(rules.items()))):
        assert policy_of(ordered, NodeFacts("enc/add", "Add", scope="enc")) == "bfloat16"
        assert policy_of(ordered, NodeFacts("enc/x", "Add", scope="enc")) == "mixed_float16"
        assert policy_of(ordered, NodeFacts("enc/x", "Add", scope="enc/y")) == "float16"
        assert policy_of(ordered, NodeFacts("dec/x", "Add")) == "float32"
        assert policy_of(ordered, NodeFacts("dec/x", "Mul")) == "float64"
        assert policy_of(ordered, NodeFacts("", "Add")) == "float32"


def test_keras_map_rows():
    rules = {"re:encoder/.*": "float16", "decoder": "bfloat16"}
    for name, policy in [
        ("encoder/a", "float16"),
        ("encoder", "float32"),
        ("decoder/x", "float32"),
    ]:
        assert policy_of(rules, NodeFacts(name, "Add"), "float32") == policy
    both = {**rules, "re:encoder/a.*": "float32"}
    with pytest.raises(ValueError, match="disagree") as caught:
        policy_of(both, NodeFacts("encoder/ab", "Add"))
    assert "'re:encoder/.*'" in str(caught.value)
    assert "'re:encoder/a.*'" in str(caught.value)


def test_equally_specific_rules_may_agree():
    rules = {"*a*": "float16", "*b*": "float16"}
    resolution = Resolver(PolicyMap("float32", rules)).resolve(NodeFacts("ab", "Add"))
    assert resolution.policy.name == "float16"
    assert resolution.rule.selector == "name:*a*"


def test_combined_conditions_must_all_hold_and_are_more_specific():
    text = """
    version = 1
    default = "float64"
    [[rule]]
    scope = "enc/**"
    policy = "float16"
    [[rule]]
    scope = "enc/**"
    op = ["Softmax", "Exp"]
    policy = "float32"
    [[rule]]
    name = "n*"
    initializer = "w*"
    policy = "bfloat16"
    """
    resolver = Resolver(parse_policy_text(text))
    assert resolver.resolve(NodeFacts("", "Exp", scope="enc/a")).policy.name == "float32"
    assert resolver.resolve(NodeFacts("", "Add", scope="enc/a")).policy.name == "float16"
    assert resolver.resolve(NodeFacts("", "Exp", scope="dec")).policy.name == "float64"
    assert resolver.resolve(NodeFacts("n", "Add", "", "", ("b", "w1"))).policy.name == "bfloat16"
    assert resolver.resolve(NodeFacts("n", "Add", "", "", ("b",))).policy.name == "float64"
    assert resolver.resolve(NodeFacts("m", "Add", "", "", ("w1",))).policy.name == "float64"


def test_rule_that_matches_nothing_suggests_the_nearest():
    resolver = Resolver(PolicyMap("float32", {"op:SoftMax": "float16", "op:Add": "float16"}))
    nodes = [NodeFacts("a", "Add"), NodeFacts("b", "Softmax")]
    with pytest.raises(PolicyError, match="'op:SoftMax'") as caught:
        resolver.check_all_matched(nodes)
    assert "op:Softmax" in str(caught.value)
    assert "'op:Add'" not in str(caught.value)
    resolver.check_all_matched([*nodes, NodeFacts("c", "SoftMax")])


def test_suggestions_by_kind_of_selector():
    nodes = [NodeFacts("enc/lm_head/MatMul", "MatMul", "", "enc/lm_head", ("embed.weight",))]
    for selector, suggestion in [
        ("enc/lm_head/MatMull", "name:enc/lm_head/MatMul"),
        ("*LM_HEAD*", "name:enc/lm_head/MatMul"),
        ("scope:enc", "scope:enc/**"),
        ("re:lm_head", "enc/lm_head"),
        ("initializer:embed", "initializer:embed.weight"),
        ("domain:ai.onx", "domain:ai.onnx"),
    ]:
        with pytest.raises(PolicyError) as caught:
            Resolver(PolicyMap("float32", {selector: "float16"})).check_all_matched(nodes)
        assert suggestion in caught.value.hint


def test_the_word_that_a_longer_one_begins_with_is_suggested():
    nodes = [NodeFacts("a", "Conv"), NodeFacts("b", "ConvTranspose"), NodeFacts("c", "If")]
    for selector, hint in [("op:Convolution", "nearest: op:Conv"), ("op:IfElse", "")]:
        with pytest.raises(PolicyError) as caught:
            Resolver(PolicyMap("float32", {selector: "float16"})).check_all_matched(nodes)
        assert caught.value.hint == hint


def test_only_the_error_of_a_rule_in_a_file_tells_how_to_make_it_optional():
    text = 'version=1\ndefault="float32"\n[[rule]]\nop="Exp"\npolicy="float16"\n'
    option = parse_selector("op:Exp", "float16", source="--op-types-to-exclude")
    for policy, told in [
        (parse_policy_text(text), True),
        (PolicyMap("float32", {"op:Exp": "float16"}), False),
        (PolicyMap("float32").extended([option]), False),
    ]:
        with pytest.raises(PolicyError) as caught:
            Resolver(policy).check_all_matched([NodeFacts("a", "Add")])
        assert ("optional = true" in caught.value.hint) is told


def test_unnamed_nodes_match_no_name():
    resolver = Resolver(PolicyMap("float32", {"*": "float16"}))
    assert not resolver.resolve(NodeFacts("", "Add")).explicit
    with pytest.raises(PolicyError, match="matches no node"):
        resolver.check_all_matched([NodeFacts("", "Add")])


def test_a_place_is_as_specific_as_a_name():
    rules = {"key:main#1": "float16", "a*": "float32", "scope:a": "bfloat16"}
    assert policy_of(rules, NodeFacts("a/b", "Add", scope="a", key="main#1")) == "float16"
    assert policy_of(rules, NodeFacts("a/b", "Add", scope="a", key="main#11")) == "bfloat16"
    with pytest.raises(PolicyError, match="equally specific"):
        policy_of(rules | {"a/b": "float32"}, NodeFacts("a/b", "Add", scope="a", key="main#1"))


def test_rules_of_one_conflict_are_named_with_their_lines():
    text = 'version=1\ndefault="float64"\n[[rule]]\nname="a*"\npolicy="float16"\n\n'
    text += '[[rule]]\nname="*b"\npolicy="float32"\n'
    with pytest.raises(PolicyError) as caught:
        Resolver(parse_policy_text(text, source="p.toml")).resolve(NodeFacts("ab", "Add"))
    assert "'name:a*' (float16 at p.toml:3: rule 1)" in str(caught.value)
    assert "'name:*b' (float32 at p.toml:7: rule 2)" in str(caught.value)


def test_optional_rule_may_match_nothing():
    text = 'version=1\ndefault="float32"\n[[rule]]\nname="x"\npolicy="float16"\noptional=true\n'
    Resolver(parse_policy_text(text)).check_all_matched([NodeFacts("a", "Add")])


def test_overruled_rule_counts_as_matched():
    rules = {"op:Add": "float16", "a": "float32"}
    Resolver(PolicyMap("float32", rules)).check_all_matched([NodeFacts("a", "Add")])


def test_many_unmatched_rules_stay_one_short_line():
    rules = {f"missing{i}": "float16" for i in range(50)}
    with pytest.raises(PolicyError, match="and 47 more") as caught:
        Resolver(PolicyMap("float32", rules)).check_all_matched([NodeFacts("a", "Add")])
    assert "\n" not in str(caught.value)


PIECES = st.text(alphabet="ab/.*?[]!0", min_size=1, max_size=8)
TEXTS = st.text(alphabet="ab/.0[]*", max_size=12)
EXPRESSIONS = st.lists(
    st.sampled_from(["abc", "a", "/", ".*", "\\.", "b+", "c?", "[ab0]+", "(a|b)", "\\d*", "bbb."]),
    min_size=1,
    max_size=6,
).map(lambda parts: "re:" + "".join(parts))


@given(st.lists(st.one_of(PIECES, EXPRESSIONS), min_size=1, max_size=8, unique=True), TEXTS, TEXTS)
def test_resolver_agrees_with_trying_every_rule(selectors, name, scope):
    rules = []
    for selector in selectors:
        for prefix in ("name:", "scope:", "initializer:", "key:", ""):
            try:
                rules.append(parse_selector(prefix + selector, "float16"))
            except PolicyError:
                continue
    distinct = list({rule.conditions: rule for rule in rules}.values())
    facts = NodeFacts(name, "Add", "", scope, (name[::-1],), scope[::-1], name)
    expected = [rule for rule in distinct if rule.matches(facts)]
    expected.sort(key=lambda rule: rule.specificity, reverse=True)
    assert list(Resolver(PolicyMap("float32", distinct)).matching(facts)) == expected


RULES = st.tuples(
    st.fixed_dictionaries(
        {},
        optional={
            "name": st.sampled_from(["*a*", "ab", "*b"]),
            "scope": st.sampled_from(["a/**", "a/b", "*"]),
            "op": st.sampled_from(["Add", "Exp"]),
            "initializer": st.sampled_from(["*0*", "w0"]),
        },
    ).filter(bool),
    st.sampled_from(["float16", "float32"]),
)
NODES = st.builds(
    NodeFacts,
    st.sampled_from(["a", "ab", "b"]),
    st.sampled_from(["Add", "Exp"]),
    st.just(""),
    st.sampled_from(["", "a", "a/b"]),
    st.sampled_from([(), ("w0",), ("w1", "w0")]),
)


@given(st.lists(RULES, min_size=1, max_size=6), st.lists(NODES, min_size=2, max_size=12))
def test_what_a_resolver_saw_before_changes_nothing(given_rules, nodes):
    rules = []
    for conditions, policy in given_rules:
        compiled = {one: compile_condition(one, [text], text) for one, text in conditions.items()}
        rules.append(Rule(parse_policy(policy), **compiled))
    policy_map = PolicyMap("float64", {rule.conditions: rule for rule in rules}.values())
    resolver = Resolver(policy_map)
    for facts in nodes:
        assert outcome(resolver, facts) == outcome(Resolver(policy_map), facts)


def outcome(resolver, facts):
    try:
        return resolver.resolve(facts)
    except PolicyError as error:
        return str(error)


def test_nodes_are_read_until_every_rule_has_matched():
    read = []

    def nodes():
        for op_type in ("Add", "Exp", "Mul"):
            read.append(op_type)
            yield NodeFacts("", op_type)

    policy = PolicyMap("float32", {"op:Add": "float16", "op:Exp": "float16"})
    Resolver(policy).check_all_matched(nodes())
    assert read == ["Add", "Exp"]


def test_pattern_index_finds_needles_across_the_last_separator():
    rules = [parse_selector(text, "float16") for text in ("*r.1/q*", "*er.1*", "*/qk", "*k")]
    index = PatternIndex((rule.name[0], rule.selector) for rule in rules)
    assert set(index.find("layer.1/qk")) == {rule.selector for rule in rules}
    assert set(index.find("layer.2/qk")) == {"name:*/qk", "name:*k"}


def test_pattern_index_finds_shared_needles():
    rules = [parse_selector(text, "float16") for text in ("*layer1/*", "*layer2/*", "re:.*ayer.*")]
    index = PatternIndex(
        (pattern, rule.selector) for rule in rules for pattern in rule.name or rule.path
    )
    assert set(index.find("x/layer1/y")) == {"name:*layer1/*", "re:.*ayer.*"}
    assert index.find("") == ()
    assert index.find("lay") == ()
