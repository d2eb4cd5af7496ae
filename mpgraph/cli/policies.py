"""`mpgraph policies`: which policies there are, and how rules are written."""

from __future__ import annotations

import click

from mpgraph.cli.options import json_option
from mpgraph.cli.output import print_json, print_table

__all__ = ["command"]

SELECTORS = (
    ("layer/MatMul_3", "the node of this name; also a glob"),
    ("op:Softmax", "nodes of an op type"),
    ("scope:encoder/**", "nodes of a module"),
    ("re:.*lm_head.*", "nodes whose name or scope matches as a whole"),
    ("domain:com.microsoft", "nodes of an operator domain"),
    ("initializer:embed*", "nodes that read this weight"),
)


@click.command("policies")
@json_option
def command(as_json: bool) -> None:
    """List the policies and rule selectors."""
    from mpgraph.policy import POLICY_NAMES, parse_policy

    policies = [parse_policy(name) for name in POLICY_NAMES]
    if as_json:
        rows = [
            {
                "name": policy.name,
                "compute_dtype": policy.compute_dtype,
                "variable_dtype": policy.variable_dtype,
            }
            for policy in policies
        ]
        print_json({"policies": rows, "selectors": dict(SELECTORS)})
        return
    print_table(
        ("policy", "computes in", "variables in"),
        [(policy.name, policy.compute_dtype, policy.variable_dtype) for policy in policies],
    )
    click.echo()
    print_table(("selector", "selects"), SELECTORS)
