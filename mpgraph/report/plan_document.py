"""A plan as a document: the float dtypes, and beside them what is quantized."""

from __future__ import annotations

import json
from typing import Any

from mpgraph.errors import PlanError
from mpgraph.plan import Plan
from mpgraph.quant import QuantizationPlan

__all__ = ["plan_text", "read_plan_text"]

_QUANTIZATION = "quantization"


def plan_text(plan: Plan, quantization: QuantizationPlan | None) -> str:
    """Both plans as one JSON text; ``read_plan_text`` reads it back."""
    document = plan.to_dict()
    if quantization is not None:
        document[_QUANTIZATION] = quantization.to_dict()
    return json.dumps(document, indent=1)


def read_plan_text(text: str) -> tuple[Plan, QuantizationPlan | None]:
    """Read what ``plan_text`` gave; what is quantized can be read, but not carried out.

    Raises:
        PlanError: The text is no plan, or of another format.
    """
    try:
        document: dict[str, Any] = json.loads(text)
        quantization = document.pop(_QUANTIZATION, None)
    except (ValueError, AttributeError, TypeError) as error:
        hint = "write one with --dump-plan"
        raise PlanError("plan", f"this is no plan: {error}", hint) from error
    plan = Plan.from_dict(document)
    return plan, None if quantization is None else QuantizationPlan.from_dict(quantization)
