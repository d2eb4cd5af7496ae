"""Random rules and maps of every kind that a file can hold."""

from __future__ import annotations

from hypothesis import strategies as st

from mpgraph.errors import PolicyError
from mpgraph.policy import (
    DTypePolicyMap,
    Policy,
    PolicyMap,
    QuantizationMode,
    QuantizedDTypePolicy,
    Rule,
    compile_condition,
    parse_policy,
)
from mpgraph.policy.file_keys import MATCHER_KEYS

NAMES = (
    "float32",
    "mixed_float16",
    "bfloat16",
    "int8_from_float32",
    "gptq/4/-1_from_mixed_bfloat16",
)
OWN = Policy("own", {"variable_dtype": "float32", "compute_dtype": "bfloat16"})
MODE = QuantizationMode(
    name='mine "2"', activation_dtype="int8", fallback=QuantizationMode(name="weights")
)
POLICIES = st.one_of(
    st.sampled_from(NAMES).map(parse_policy),
    st.sampled_from(
        [OWN, QuantizedDTypePolicy(MODE, "float32"), QuantizedDTypePolicy("int8", OWN)]
    ),
)
# Any text that UTF-8 can hold; quotes, backslashes and control characters more often.
TEXTS = st.text(
    st.one_of(st.sampled_from("\"'\\\n\r\t#[]*?./:\x7f\x85"), st.characters(codec="utf-8")),
    max_size=12,
)


def compiled(condition, texts):
    """The patterns of a condition; no condition where one of them is malformed."""
    try:
        return compile_condition(condition, texts, "drawn")
    except PolicyError:
        return ()


@st.composite
def rules(draw):
    """A rule with one condition or several."""
    conditions = draw(st.lists(st.sampled_from(MATCHER_KEYS), min_size=1, max_size=3, unique=True))
    matchers = {
        condition: compiled(condition, draw(st.lists(TEXTS, min_size=1, max_size=4)))
        for condition in conditions
    }
    return Rule(draw(POLICIES), reason=draw(TEXTS), optional=draw(st.booleans()), **matchers)


@st.composite
def policy_maps(draw):
    """A map of up to six rules, none of which selects the same as another."""
    drawn = draw(st.lists(rules(), max_size=6))
    distinct = {rule.conditions: rule for rule in drawn if rule.selector}
    kind = draw(st.sampled_from([PolicyMap, DTypePolicyMap]))
    return kind(draw(POLICIES), list(distinct.values()), range_scaling=draw(st.booleans()))
