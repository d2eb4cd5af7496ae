"""Random policy maps on the built models: a valid model, or an error that says what is wrong."""

from __future__ import annotations

from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

import models
import mpgraph
from mpgraph import ir
from mpgraph.errors import MpgraphError
from mpgraph.policy import PolicyMap, as_policy_map, node_facts, parse_policy_text, policy_text

POLICIES = (
    *("float32", "float16", "bfloat16", "float64", "mixed_float16", "mixed_bfloat16"),
    "int8_from_float32",
)
LOST = ("nothing", "scope:nowhere/**", "op:Nothing", "re:no.*thing", "key:main#100000")


@cache
def model_of(name):
    return ir.load(models.build(name))


@cache
def selectors_of(name):
    """Selectors of every kind that select something in a model."""
    facts = node_facts(model_of(name), PolicyMap("float32", {"key:main#0": "float32"})).values()
    found = {"*", "op:*", "scope:**", "domain:ai.onnx", "re:.*", "initializer:*"}
    for one in facts:
        levels = ir.module_levels(one.scope)
        found |= {f"op:{one.op_type}", f"key:{one.key}", f"*{one.name[-4:]}"}
        found |= {one.name, f"re:.*{one.name[-3:].replace('.', '_')}"} if one.name else set()
        found |= {f"scope:{'.'.join(levels)}", f"scope:{levels[0]}/**"} if levels else set()
        found |= {f"initializer:{weight}" for weight in one.initializers}
    return sorted(found)


@st.composite
def cases(draw):
    name = draw(st.sampled_from(models.builders()))
    policies = st.sampled_from(POLICIES[:-1] * 4 + POLICIES[-1:])
    selectors = st.sampled_from([*selectors_of(name) * 4, *LOST])
    rules = draw(st.dictionaries(selectors, policies, max_size=5))
    options = {
        "target": draw(st.sampled_from(["cpu", "cuda", "webgpu"])),
        "keep_io_types": draw(st.booleans()),
        "storage": draw(st.sampled_from(["compute", "variable"])),
        "allow_slow": draw(st.booleans()),
    }
    return name, PolicyMap(draw(policies), rules), options


@settings(max_examples=150, deadline=None, derandomize=True)
@given(cases())
def test_a_random_map_gives_a_valid_model_or_a_clear_error(case):
    name, policy, options = case
    try:
        result = mpgraph.convert(model_of(name), policy, verify="structure", **options)
    except MpgraphError as error:
        assert error.where and error.rule
        assert "\n" not in str(error)
        return
    ir.check_model(result.model)
    reread = as_policy_map(parse_policy_text(policy_text(policy)))
    same = mpgraph.convert(model_of(name), reread, verify="structure", **options)
    assert same.plan.assignments == result.plan.assignments
