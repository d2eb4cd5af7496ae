"""Policy files: what is read, and that every error says where."""

from __future__ import annotations

import pytest

from mpgraph.errors import PolicyError
from mpgraph.policy import PolicyMap, Resolver, load_policy_file, parse_policy_text

EXAMPLE = """\
version = 1
default = "mixed_float16"

[[rule]]
scope  = "encoder/layers.*/self_attn/**"     # module path
op     = ["Softmax"]
policy = "float32"
reason = "logits overflow"

[[rule]]
name   = "re:.*/lm_head/.*"
policy = "int8_from_float32"
optional = true
"""


def rule_file(body):
    return f'version = 1\ndefault = "float32"\n\n[[rule]]\n{body}\n'


def test_example(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_bytes(b"\xef\xbb\xbf" + EXAMPLE.replace("\n", "\r\n").encode())
    policies = load_policy_file(path)
    assert policies.default.name == "mixed_float16"
    first, second = policies.rules
    assert first.selector == "scope:encoder/layers.*/self_attn/** op:Softmax"
    assert first.reason == "logits overflow"
    assert first.source == f"{path}:4: rule 1"
    assert not first.optional
    assert second.policy.quantization_mode == "int8"
    assert second.optional
    assert isinstance(Resolver(policies), Resolver)


def test_file_without_rules_or_default():
    assert parse_policy_text('version = 1\ndefault = "float32"') == PolicyMap("float32")
    assert parse_policy_text("version = 1", default="float16") == PolicyMap("float16")
    assert parse_policy_text('version=1\ndefault="float32"', default="float16") == PolicyMap(
        "float32"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no version"),
        ('version = 2\ndefault = "float32"', "version 2"),
        ('version = true\ndefault = "float32"', "version True"),
        ("version = 1", "names no default"),
        ('version = 1\ndefault = "half"', "default: 'half'"),
        ("version = 1\ndefault = 16", "16 is no policy"),
        ('version = 1\ndefault = "float32"\nrule = 3', "no list of tables"),
        ('version = 1\ndefault = "float32"\nrules = []', "did you mean rule"),
        ("version = \n1", "p.toml:1: not valid TOML: Invalid value"),
        ('version = 1\n\nname = "', "p.toml:3: not valid TOML"),
        ('version = 1\ndefault = "float32"\nversion = 1', "p.toml:3: not valid TOML: Cannot"),
        ('version = 1\n\n\ndefault = "half"', "p.toml:4: default: 'half'"),
        ('version = 1\ndefault = "float32"\nrange_scaling = 1', "p.toml:3: `range_scaling` is 1"),
        ('version = 1\ndefault = {name = "a"}', "p.toml:2: default: policy: 'a' is not a policy"),
        ('version = 1\ndefault = {mode = "int9"}', "'int9' is no quantization mode"),
        (
            rule_file('policy = "float32"\nname = ["a",\n"b",\n"re:["]'),
            "p.toml:8: rule 1: selector",
        ),
        (rule_file('policy = "float32"\nnam = "a"'), "p.toml:6: rule 1: unknown key 'nam'"),
        (rule_file('policy = {}\nname = "a"'), "p.toml:5: rule 1: policy config: {} has no 'name'"),
        (rule_file('op = "Add"'), ":4: rule 1: the rule has no policy"),
        (rule_file('policy = "float32"'), ":4: rule 1: the rule selects nothing"),
        (rule_file('op = "Add"\npolicy = "half"'), ":6: rule 1: 'half'"),
        (rule_file('opp = "Add"\npolicy = "float32"'), "did you mean op"),
        (rule_file('op = []\npolicy = "float32"'), "not empty"),
        (rule_file('op = ["Add", 3]\npolicy = "float32"'), "`op`"),
        (rule_file('op = ""\npolicy = "float32"'), "empty"),
        (rule_file('name = "re:("\npolicy = "float32"'), ":5: rule 1: selector"),
        (rule_file('op = "Add"\npolicy = "float32"\nreason = 3'), "`reason`"),
        (rule_file('op = "Add"\npolicy = "float32"\noptional = "yes"'), "`optional`"),
        (EXAMPLE + '\n[[rule]]\nname = "re:.*/lm_head/.*"\npolicy = "float32"', ":10: rule 2"),
    ],
)
def test_errors_say_where(text, message):
    with pytest.raises(ValueError) as caught:
        parse_policy_text(text, source="p.toml")
    assert isinstance(caught.value, PolicyError)
    assert str(caught.value).startswith("p.toml")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_second_rule_is_named_with_its_own_line():
    with pytest.raises(PolicyError, match=r"p\.toml:12: rule 2"):
        parse_policy_text(EXAMPLE.replace("int8_from_float32", "int8"), source="p.toml")


def test_lines_of_rules_in_any_form():
    text = 'version = 1\ndefault = "float32"\nrule = [\n  {op = "Add", policy = "half"},\n]'
    with pytest.raises(PolicyError, match="p:4: rule 1: 'half'"):
        parse_policy_text(text, source="p")
    hidden = rule_file('op = "Add"\nreason = """\n[[rule]]\n"""\npolicy = "half"')
    with pytest.raises(PolicyError, match="p:9: rule 1: 'half'"):
        parse_policy_text(hidden, source="p")


def test_every_key_may_be_given():
    text = """
    version = 1
    default = "float32"
    range_scaling = true
    [[rule]]
    name = "a"
    scope = "b"
    op = "Add"
    domain = "ai.onnx"
    initializer = "w"
    key = "main#1"
    path = "re:x"
    policy = {name = "own", config = {variable_dtype = "float32", compute_dtype = "bfloat16"}}
    reason = "why"
    optional = true
    """
    policies = parse_policy_text(text)
    (rule,) = policies.rules
    assert policies.range_scaling
    assert rule.selector == ("re:x name:a scope:b op:Add domain:ai.onnx initializer:w key:main#1")
    assert (rule.policy.name, rule.policy.compute_dtype) == ("own", "bfloat16")
    assert parse_policy_text('version = 1\ndefault = "float32"').range_scaling is False


def test_alternatives_in_a_list():
    policies = parse_policy_text(rule_file('name = ["a", "b*"]\npolicy = "float16"'))
    assert policies.rules[0].selector == "name:a,b*"


def test_unreadable_files(tmp_path):
    for path in (tmp_path / "missing.toml", tmp_path):
        with pytest.raises(PolicyError, match="cannot be read"):
            load_policy_file(path)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PolicyError, match="UTF-8"):
        load_policy_file(binary)
