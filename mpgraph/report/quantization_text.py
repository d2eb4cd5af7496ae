"""What a conversion quantized, what it left in float and why, and what a session makes of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from mpgraph import ir
from mpgraph.plan import Assignment
from mpgraph.quant import PlannedWeight, QuantizationPlan
from mpgraph.quant.form_errors import CorrectedBiases
from mpgraph.quant.planned import LOSES_TIME, Form
from mpgraph.report.units import node_text, sqnr_text
from mpgraph.runtime.quantizers import Outcome, QuantizerAccount

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["account_line", "bias_line", "quantization_facts", "quantization_lines"]

_FORMS: Mapping[Form, str] = {
    "static": "static",
    "dynamic": "dynamic",
    "dynamic_rows": "dynamic per row",
    "recurrent": "dynamic per step",
    "weights": "weights alone",
    "packed": "packed weights",
    "rows": "rows of tables",
    "given": "so before",
    "float": "float",
}
"""What a person reads of each form."""

_REASONS = (1, 6)


def quantization_lines(plan: QuantizationPlan, room: int, width: int) -> Iterator[Text]:
    """How many of the quantizable nodes are quantized, and why not the rest.

    Args:
        plan: What was planned.
        room: About how many lines of reasons there may be.
        width: Columns of a line.
    """
    yield Text(_title(plan), style="bold")
    hint = "       (--allow-slow quantizes all that can be: smaller, less accurate)"
    hints = [hint] if plan.left[LOSES_TIME] and room > _REASONS[0] + 1 else []
    limit = min(max(room - len(hints), _REASONS[0]), _REASONS[1])
    reasons = plan.left.most_common()
    shown = reasons if len(reasons) <= limit else reasons[: limit - 1]
    for reason, nodes in shown:
        yield Text(_cropped(f"{nodes:>5}  float: {reason}", width))
    rest = reasons[len(shown) :]
    if rest:
        nodes = sum(count for _, count in rest)
        yield Text(f"{nodes:>5}  float: for {len(rest)} other reasons (--json has all)")
    yield from map(Text, hints)


def bias_line(found: CorrectedBiases | None) -> str:
    """Which biases were corrected, and what that gained; empty where none was."""
    if found is None:
        return ""
    before, after = (f"{sqnr_text(_decibels(error))} dB" for error in (found.before, found.after))
    return f"Biases corrected at {node_text(len(found.nodes))}: worst output {before} to {after}"


def account_line(account: QuantizerAccount | None) -> str:
    """What a session makes of the Q/DQ that were inserted; empty where there are none."""
    if account is None or not (account.quantizers or account.missed):
        return ""
    if account.missed:
        return f"Q/DQ: not known what {account.target} fuses: {account.missed}"
    counts = account.outcomes
    parts = [f"{counts['fused']} fused"]
    names: dict[Outcome, str] = {
        "edge": "at an edge to float",
        "folded": "folded",
        "compiled": "in compiled pieces",
    }
    parts += [f"{counts[one]} {name}" for one, name in names.items() if counts[one]]
    parts.append(f"{counts['left']} left")
    text = f"Q/DQ: {', '.join(parts)}"
    if account.left:
        first = account.left[0]
        text += f" ({'e.g. ' if len(account.left) > 1 else ''}{first.name}: {first.reason})"
    return text


def quantization_facts(
    one: Assignment, quantization: QuantizationPlan
) -> Iterator[tuple[str, str]]:
    """Label and text of what is said of the quantization of one node.

    Args:
        one: What the plan of float dtypes says of it.
        quantization: What was quantized.
    """
    planned = quantization.find(one.key, one.name, one.op_type)
    if planned is None:
        if one.mode:
            yield "quantized", f"no: {one.mode} does nothing with {one.op_type} here"
        return
    if planned.form == "float":
        yield "quantized", f"no: {planned.reason} ({planned.mode})"
        return
    mode = f"{planned.fallback} in place of {planned.mode}" if planned.fallback else planned.mode
    yield "quantized", f"{_FORMS[planned.form]}: {planned.reason} ({mode})"
    activations, weights = quantization.operands_of(planned)
    for activation in activations:
        low, high = activation.range
        yield (
            "activation",
            f"{activation.value}: {activation.dtype} per tensor, scale {activation.scale:.6g}, "
            f"zero point {activation.zero_point}, {low:.4g} to {high:.4g}",
        )
    for weight in weights:
        yield "weight", _weight_text(weight)


def _decibels(error: float) -> float:
    """The SQNR of a squared error over energy."""
    return math.inf if error <= 0 else -10 * math.log10(error)


def _weight_text(weight: PlannedWeight) -> str:
    scales = {
        "tensor": "per tensor",
        "axis": f"per index of axis {weight.axis}",
        "block": f"per {weight.block_size} elements of axis {weight.axis}",
    }
    parts = [weight.dtype, scales[weight.granularity]]
    if weight.bits != ir.parse_dtype(weight.dtype).bitwidth:
        parts.append(f"{weight.bits} bits used")
    parts.append("symmetric" if weight.symmetric else "with a zero point")
    if weight.optimize != "range":
        parts.append(f"rounded by {weight.optimize}")
    return f"{weight.constant}: {', '.join(parts)}"


def _title(plan: QuantizationPlan) -> str:
    if plan.forms and set(plan.forms) <= {"given", "float"}:
        return (
            f"Quantized already: {plan.quantized} of {plan.quantizable} quantizable nodes; "
            "nothing was added"
        )
    forms = [f"{count} {_FORMS[form]}" for form, count in plan.forms.items() if form != "float"]
    title = f"Quantized: {plan.quantized} of {plan.quantizable} quantizable nodes"
    return f"{title}: {', '.join(forms)}"


def _cropped(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3].rstrip()}..."
