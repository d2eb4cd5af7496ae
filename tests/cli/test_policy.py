from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from mpgraph.cli.policy import chosen_policy, suffix_of
from mpgraph.errors import PolicyError
from mpgraph.policy import PolicyMap


def chosen(**given: Any) -> PolicyMap:
    lists = ("nodes_to_exclude", "op_types_to_exclude", "nodes_to_include", "op_types_to_include")
    parts: dict[str, Any] = {"policy": None, "precision": None, "policy_file": None}
    return chosen_policy(**{**parts, **dict.fromkeys(lists, ()), **given})


@pytest.mark.parametrize(
    ("given", "expected", "suffix"),
    [
        ({}, PolicyMap("mixed_float16"), "fp16"),
        ({"policy": "float16"}, PolicyMap("float16"), "fp16"),
        ({"policy": "float32"}, PolicyMap("float32"), "fp32"),
        ({"precision": "bf16"}, PolicyMap("mixed_bfloat16"), "bf16"),
        (
            {
                "nodes_to_exclude": ["a/b", "re:.*head"],
                "op_types_to_exclude": ["Exp, Log", "Pow"],
            },
            PolicyMap(
                "mixed_float16",
                {
                    "name:a/b": "float32",
                    "name:re:.*head": "float32",
                    "op:Exp": "float32",
                    "op:Log": "float32",
                    "op:Pow": "float32",
                },
            ),
            "fp16",
        ),
        (
            {"precision": "fp16", "op_types_to_include": ["MatMul"], "nodes_to_exclude": ["last"]},
            PolicyMap("float32", {"op:MatMul": "mixed_float16", "name:last": "float32"}),
            "fp16",
        ),
    ],
)
def test_options_become_a_policy_map(given: Any, expected: PolicyMap, suffix: str) -> None:
    assert chosen(**given) == expected
    assert suffix_of(expected) == suffix


def test_a_policy_file_gives_the_base(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(
        'version = 1\ndefault = "mixed_float16"\n'
        '[[rule]]\nop = ["Softmax"]\npolicy = "mixed_bfloat16"\n'
    )
    policy = chosen(policy_file=path, nodes_to_exclude=["x"])
    assert policy == PolicyMap(
        "mixed_float16", {"op:Softmax": "mixed_bfloat16", "name:x": "float32"}
    )
    assert suffix_of(policy) == "mixed"


def test_options_that_exclude_each_other() -> None:
    with pytest.raises(click.UsageError, match="not both"):
        chosen(policy="float16", precision="fp16")
    with pytest.raises(click.UsageError, match="not both"):
        chosen(policy_file=Path("p.toml"), nodes_to_include=["x"])


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(PolicyError, match="mixed_flaot16"):
        chosen(policy="mixed_flaot16")
    with pytest.raises(PolicyError, match="mixed_flaot16"):
        chosen(policy="mixed_flaot16", op_types_to_include=["MatMul"])
