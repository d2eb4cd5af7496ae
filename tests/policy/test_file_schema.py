"""The schema for editors beside the reader of policy files."""

from __future__ import annotations

import json
import tomllib
from importlib.resources import files

import jsonschema
import pytest
from hypothesis import given

from mpgraph.errors import PolicyError
from mpgraph.policy import parse_policy_text, policy_file_schema, policy_text
from tests.policy.keras_rows import NAMES
from tests.policy.random_maps import policy_maps
from tests.policy.test_files import EXAMPLE, rule_file

VALIDATOR = jsonschema.Draft7Validator(policy_file_schema())
BAD = [
    'default = "float32"',
    "version = 2",
    "version = true",
    'version = "1"',
    'version = 1\ndefault = "half"',
    "version = 1\ndefault = 16",
    "version = 1\nrange_scaling = 1",
    "version = 1\nrules = []",
    "version = 1\nrule = 3",
    "version = 1\nrule = [3]",
    rule_file('op = "Add"'),
    rule_file('policy = "float32"'),
    rule_file('op = "Add"\npolicy = "half"'),
    rule_file('op = "Add"\npolicy = "int8"'),
    rule_file('op = "Add"\npolicy = "int4/0_from_float32"'),
    rule_file('op = "Add"\npolicy = {}'),
    rule_file('op = "Add"\npolicy = {mode = "int9"}'),
    rule_file('op = "Add"\npolicy = {name = "a", config = {compute_dtype = "float32"}}'),
    rule_file('opp = "Add"\npolicy = "float32"'),
    rule_file('op = []\npolicy = "float32"'),
    rule_file('op = ["Add", 3]\npolicy = "float32"'),
    rule_file('op = ""\npolicy = "float32"'),
    rule_file('op = "Add"\npolicy = "float32"\nreason = 3'),
    rule_file('op = "Add"\npolicy = "float32"\noptional = "yes"'),
]


def accepts(text):
    return VALIDATOR.is_valid(tomllib.loads(text))


def test_the_shipped_file_is_the_schema_of_the_tables():
    shipped = files("mpgraph.policy").joinpath("data", "policy-file.schema.json")
    written = shipped.read_text(encoding="utf-8")
    assert json.loads(written) == policy_file_schema(), "write it with mpgraph policies --schema -o"


def test_it_is_a_schema_itself():
    jsonschema.Draft7Validator.check_schema(policy_file_schema())


@given(policy_maps())
def test_it_accepts_what_is_written(policies):
    assert accepts(policy_text(policies))


def test_it_accepts_the_example():
    assert accepts(EXAMPLE)


@pytest.mark.parametrize("text", BAD)
def test_it_refuses_what_the_reader_refuses(text):
    assert not accepts(text)
    with pytest.raises(PolicyError):
        parse_policy_text(text, default="float32")


@pytest.mark.parametrize("name", [row.name for row in NAMES if isinstance(row.name, str)])
def test_it_knows_the_same_names_of_policies_as_the_reader(name):
    text = f"version = 1\ndefault = {json.dumps(name)}"
    try:
        parse_policy_text(text)
        is_known = True
    except PolicyError:
        is_known = False
    assert accepts(text) is is_known
