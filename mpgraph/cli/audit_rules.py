"""Rules of the audit on the command line: naming them, explaining them, failing on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mpgraph.cli.output import print_table

if TYPE_CHECKING:
    from mpgraph.auditing import Finding

__all__ = ["explain_option", "failing", "split_names"]

Command = TypeVar("Command", bound=Callable[..., Any])
ALL = "all"
SEVERITIES = ("error", "warning", "note")


def split_names(given: Iterable[str]) -> tuple[str, ...]:
    """The names of an option that takes ``A,B`` and may be repeated."""
    return tuple(name for text in given for part in text.split(",") if (name := part.strip()))


def failing(names: Iterable[str]) -> Callable[[Finding], bool]:
    """Tells whether a finding is one that --fail-on names; a severity means that bad or worse.

    Raises:
        InputError: A name is that of no rule and no severity.
    """
    wanted = tuple(names)
    severities = [name for name in wanted if name in SEVERITIES]
    rules = [name for name in wanted if name not in SEVERITIES]
    worst = max((SEVERITIES.index(name) for name in severities), default=-1)
    codes: frozenset[str] = frozenset()
    if rules:
        from mpgraph.auditing.selection import select_rules

        codes = frozenset(rule.code for rule in select_rules(rules))

    def fails(finding: Finding) -> bool:
        return finding.code in codes or SEVERITIES.index(finding.severity) <= worst

    return fails


def explain_option(command: Command) -> Command:
    """`--explain CODE`, which needs no model."""
    return click.option(
        "--explain",
        metavar="CODE",
        is_eager=True,
        expose_value=False,
        callback=_explain,
        help=f"Explain a rule by its code or kind, or list `{ALL}`, and do nothing else.",
    )(command)


def _explain(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is None or ctx.resilient_parsing:
        return
    if value == ALL:
        _list_rules()
    else:
        _explain_rule(value)
    ctx.exit()


def _list_rules() -> None:
    from mpgraph.auditing.rules import RULES

    print_table(
        ("code", "kind", "severity", "what", "fix"),
        ((rule.code, rule.kind, rule.severity, rule.title, rule.fix) for rule in RULES.values()),
    )


def _explain_rule(name: str) -> None:
    from mpgraph.auditing.selection import find_rule

    rule = find_rule(name)
    click.echo(f"{rule.code} {rule.kind} ({rule.severity}): {rule.title}")
    click.echo(rule.explanation.rstrip())
    if rule.fix:
        click.echo(f"\n--fix runs the pass {rule.fix}.")
