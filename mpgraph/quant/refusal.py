"""Refuses a quantization that quantizes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph.errors import NothingQuantizedError
from mpgraph.quant.plan import QuantizationPlan
from mpgraph.targets import QuantizationRules, Target, quantization_rules

__all__ = ["refuse_nothing"]

_REASONS = 3


def refuse_nothing(plan: QuantizationPlan, policy: str, target: Target, *, forced: bool) -> None:
    """Refuse a plan under which nothing is quantized, and nothing was so before.

    Args:
        plan: What was planned.
        policy: The policy, as text.
        target: Where the model shall run.
        forced: Whether quantization that only loses time was allowed.

    Raises:
        NothingQuantizedError: Nothing is quantized; it gives the most frequent reasons.
    """
    if plan.quantized:
        return
    hints = _hints(plan, target.name, quantization_rules(target), forced)
    raise NothingQuantizedError(f"policy {policy!r}", _rule(plan), "; ".join(hints))


def _rule(plan: QuantizationPlan) -> str:
    if not plan.quantizable:
        return "nothing is quantized: it selects no node that multiplies by a weight"
    shown = plan.left.most_common(_REASONS)
    reasons = [f"{reason} ({count})" for reason, count in shown]
    if len(plan.left) > len(shown):
        reasons.append(f"{len(plan.left) - len(shown)} other reasons")
    return f"0 of {plan.quantizable} quantizable nodes are quantized: {', '.join(reasons)}"


def _hints(
    plan: QuantizationPlan, target: str, rules: QuantizationRules, forced: bool
) -> Iterator[str]:
    left = {node.op_type for node in plan.nodes if node.counts}
    modes = {node.mode for node in plan.nodes}
    if left & rules.weights and "int8_weight" not in modes:
        yield f"on {target} int8_weight and int4/32 policies quantize the weights alone"
    if left and not forced:
        yield "allow-slow quantizes also what only loses time"
