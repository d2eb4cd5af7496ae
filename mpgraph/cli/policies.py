"""`mpgraph policies`: which policies there are, what one means, and how rules are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpgraph.cli.explanation import read_plan
from mpgraph.cli.options import json_option
from mpgraph.cli.output import check_output, console, print_json, print_table, write_text

if TYPE_CHECKING:
    from mpgraph.policy import DTypePolicy

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
@click.argument("name", required=False)
@click.option(
    "--from-plan",
    type=Path,
    metavar="PLAN.json",
    help="Write the policy file whose rules give the nodes of a plan the same dtypes again.",
)
@click.option("--schema", is_flag=True, help="Write the JSON schema of policy files, for editors.")
@click.option("-o", "--output", type=Path, metavar="FILE", help="Write into a file.")
@json_option
def command(
    name: str | None, from_plan: Path | None, schema: bool, output: Path | None, as_json: bool
) -> None:
    """List the policies and rule selectors, or explain the policy NAME.

    A plan is what `convert --dump-plan` writes.
    """
    if sum((name is not None, from_plan is not None, schema)) > 1:
        raise click.UsageError("give one of NAME, --from-plan and --schema")
    if output is not None and from_plan is None and not schema:
        raise click.UsageError("--output goes with --from-plan or --schema")
    if from_plan is not None:
        _write(_policy_of_plan(from_plan), output, from_plan)
    elif schema:
        _write(_schema(), output)
    elif name is not None:
        _explain(name, as_json)
    elif as_json:
        print_json(_listing())
    else:
        _print_listing()


def _write(text: str, output: Path | None, *inputs: Path) -> None:
    if output is None:
        click.echo(text, nl=False)
        return
    check_output(output, *inputs)
    write_text(output, text)
    click.echo(f"written to {output}")


def _policy_of_plan(path: Path) -> str:
    from mpgraph.plan import policy_map_of_plan
    from mpgraph.policy import policy_text

    plan, quantization = read_plan(path)
    left = [
        one.key
        for one in plan.assignments
        if quantization is not None and quantization.left_float(one.key, one.name, one.op_type)
    ]
    return policy_text(policy_map_of_plan(plan, left))


def _schema() -> str:
    from mpgraph.policy import policy_file_schema

    return json.dumps(policy_file_schema(), indent=2) + "\n"


def _explain(name: str, as_json: bool) -> None:
    from mpgraph.report.policy_text import policy_facts, render_policy

    policy = _policy(name)
    if as_json:
        described = [{"label": label, "text": text} for label, text in policy_facts(policy)]
        print_json({**_row(policy), "mode": policy.mode, "explanation": described})
        return
    render_policy(policy, console())


def _policy(name: str) -> DTypePolicy:
    """The policy of a name.

    Raises:
        PolicyValueError: There is no such policy; the hint has the nearest names.
    """
    from mpgraph.errors import PolicyValueError
    from mpgraph.policy import nearest_names, parse_policy

    try:
        return parse_policy(name)
    except PolicyValueError as error:
        near = nearest_names(name)
        hint = f"nearest: {', '.join(near)}" if near else "`mpgraph policies` lists them"
        raise PolicyValueError(error.where, error.rule, hint) from error


def _listing() -> dict[str, Any]:
    from mpgraph.policy import POLICY_NAMES, parse_policy
    from mpgraph.report.mode_text import MODE_SUMMARIES

    return {
        "policies": [_row(parse_policy(name)) for name in POLICY_NAMES],
        "modes": {form: summary for forms, summary in MODE_SUMMARIES for form in forms},
        "selectors": dict(SELECTORS),
    }


def _row(policy: DTypePolicy) -> dict[str, Any]:
    return {
        "name": policy.name,
        "compute_dtype": policy.compute_dtype,
        "variable_dtype": policy.variable_dtype,
        "quantization_mode": policy.quantization_mode,
    }


def _print_listing() -> None:
    from mpgraph.policy import FLOAT_NAMES
    from mpgraph.report.mode_text import MODE_SUMMARIES

    plain = (
        (", ".join(FLOAT_NAMES), "the same", "the same"),
        ("mixed_float16", "float16", "float32"),
        ("mixed_bfloat16", "bfloat16", "float32"),
    )
    modes = [(", ".join(forms), summary) for forms, summary in MODE_SUMMARIES]
    print_table(("policy", "computes in", "variables in"), plain)
    click.echo()
    print_table(("MODE_from_POLICY", "quantizes"), modes)
    click.echo()
    print_table(("selector", "selects"), SELECTORS)
    click.echo("`mpgraph policies NAME` explains a policy, such as int8_from_mixed_bfloat16.")
