"""From policy options to a policy: the short options become rules of a policy map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpgraph.cli.options import PRECISIONS

if TYPE_CHECKING:
    from mpgraph.policy import DTypePolicy, PolicyMap, Rule

__all__ = ["chosen_policy", "suffix_of"]

DEFAULT = "mixed_float16"
KEPT = "float32"
SUFFIXES = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"}


def chosen_policy(
    policy: str | None,
    precision: str | None,
    policy_file: Path | None,
    nodes_to_exclude: Sequence[str],
    op_types_to_exclude: Sequence[str],
    nodes_to_include: Sequence[str],
    op_types_to_include: Sequence[str],
) -> PolicyMap:
    """The policy map that the options describe.

    With an include option the default is float32, and the policy holds for what is included.

    Raises:
        click.UsageError: Options that exclude each other.
        PolicyError: A policy, selector or policy file is malformed.
    """
    from mpgraph.policy import as_policy_map, load_policy_file, parse_policy

    if policy is not None and precision:
        raise click.UsageError("give --policy or --precision, not both")
    if policy is not None:
        parse_policy(policy)
    name = policy or (PRECISIONS[precision] if precision else "")
    included = bool(nodes_to_include or op_types_to_include)
    if policy_file is not None and included:
        raise click.UsageError("give --policy-file or an include option, not both")
    if policy_file is not None:
        base = load_policy_file(policy_file, default=name or DEFAULT)
        if name and base.default != parse_policy(name):
            given = f"asks for {name}, the policy file for {base.default.name}"
            raise click.UsageError(f"--{'policy' if policy else 'precision'} {given}")
    else:
        base = as_policy_map(KEPT if included else name or DEFAULT)
    return base.extended(
        [
            *_rules("--nodes-to-include", "name", nodes_to_include, name or DEFAULT),
            *_rules("--op-types-to-include", "op", _split(op_types_to_include), name or DEFAULT),
            *_rules("--nodes-to-exclude", "name", nodes_to_exclude, KEPT),
            *_rules("--op-types-to-exclude", "op", _split(op_types_to_exclude), KEPT),
        ]
    )


def suffix_of(policy: PolicyMap) -> str:
    """The suffix of a default output name, such as fp16 or int8; mixed for several low types."""
    suffixes = {one for each in policy.policies for one in _suffixes(each)}
    low = suffixes - {SUFFIXES[KEPT]} or suffixes
    return low.pop() if len(low) == 1 else "mixed"


def _suffixes(policy: DTypePolicy) -> Iterator[str]:
    yield SUFFIXES[policy.compute_dtype]
    if policy.mode is not None:
        is_float8 = policy.mode.weight_dtype.startswith("float8")
        yield "fp8" if is_float8 else f"int{policy.mode.weight_bits}"


def _rules(option: str, condition: str, texts: Sequence[str], policy: str) -> Iterator[Rule]:
    from mpgraph.policy import parse_selector

    for text in texts:
        pattern = text.removeprefix(f"{condition}:")
        yield parse_selector(f"{condition}:{pattern}", policy, source=option)


def _split(texts: Sequence[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]
