"""A policy in words: what it computes in, how it quantizes, and what that means on a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mpgraph.policy import DTypePolicy
from mpgraph.report.mode_text import mode_facts

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["policy_facts", "render_policy"]

_HAZARDS = {
    "float16": "constants and values beyond 65504 or below 6e-8, masks, integers above 2048, long "
    "sums, decomposed normalizations, Sin, Cos, Exp and Log where rounding shows",
    "bfloat16": "masks of -FLT_MAX, integers above 256, long sums, decomposed normalizations, Sin, "
    "Cos, Exp and Log where rounding shows; else its range is that of float32",
}


def policy_facts(policy: DTypePolicy) -> list[tuple[str, str]]:
    """Return what a policy means as (label, text), in the order of reading."""
    return [*_dtypes(policy), *_graph(policy), *_quantization(policy)]


def render_policy(policy: DTypePolicy, console: Console) -> None:
    """Print what a policy means."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    above = ""
    for label, text in policy_facts(policy):
        table.add_row(Text("" if label == above else f"  {label}", style="dim"), Text(text))
        above = label
    console.print(Text(policy.name, style="bold"))
    console.print(table)


def _dtypes(policy: DTypePolicy) -> Iterator[tuple[str, str]]:
    compute, variable = policy.compute_dtype, policy.variable_dtype
    yield "computes in", f"{compute}: every float operand of a node under this policy"
    if policy.is_mixed:
        yield (
            "variables in",
            f"{variable} with --storage variable, cast to {compute} when the model runs; by "
            f"default weights are stored in {compute}: the same result, a smaller file",
        )
    else:
        yield "variables in", f"{variable}: weights are stored as they are computed with"


def _graph(policy: DTypePolicy) -> Iterator[tuple[str, str]]:
    compute = policy.compute_dtype
    if policy.is_mixed:
        yield (
            "on a graph",
            f"matrix products, convolutions, recurrent and attention nodes compute in {compute}; "
            "every other node gets the dtype with which the fewest bytes move",
        )
    elif compute in _HAZARDS:
        yield "on a graph", f"every node computes in {compute} where that is legal and safe"
    elif compute == "float32":
        yield "on a graph", "every node computes in float32, float16 ones too; float64 is kept"
    else:
        yield "on a graph", f"every node computes in {compute} where the target has a kernel"
    if compute in _HAZARDS:
        yield "stays float32", f"on numeric evidence: {_HAZARDS[compute]}"
        yield (
            "stays float32",
            f"for the target: nodes without a {compute} kernel there, or slower with one",
        )
        yield "stays float32", "by contract: graph inputs and outputs, unless --no-keep-io-types"
        yield (
            "stays float32",
            "by type: operands that an operator fixes to float32, such as scales of Resize",
        )
    yield "left alone", "integers, bools and strings; a rule wins over numeric evidence"


def _quantization(policy: DTypePolicy) -> Iterator[tuple[str, str]]:
    if policy.mode is None:
        yield "quantization", "none"
        return
    yield from mode_facts(policy.mode)
    yield "not quantized", f"nodes without a quantized form: they compute in {policy.compute_dtype}"
    yield "status", "quantized policies are not available in this version: a conversion is refused"
