"""Plans on the command line: read from a file, and which of their nodes a name means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpgraph.errors import PlanError

if TYPE_CHECKING:
    from mpgraph.plan import Assignment, Plan
    from mpgraph.quant import QuantizationPlan

__all__ = ["explained_data", "find_assignments", "read_plan"]


def read_plan(path: Path) -> tuple[Plan, QuantizationPlan | None]:
    """Read a plan that `convert --dump-plan` wrote, and what it says of quantization.

    Raises:
        PlanError: The file cannot be read, or is no plan.
    """
    from mpgraph.report.plan_document import read_plan_text

    try:
        return read_plan_text(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise PlanError(str(path), "is not UTF-8 text") from error
    except OSError as error:
        raise PlanError(str(path), f"cannot be read: {error.strerror or error}") from error


def find_assignments(plan: Plan, name: str) -> tuple[Assignment, ...]:
    """What the plan says of a node, by its name or key, or of all nodes of a scope.

    Raises:
        PlanError: The plan has no such node; the hint has the nearest names.
    """
    from difflib import get_close_matches

    found = plan.find(name)
    if found:
        return found
    prefix = name.strip("/") + "/"
    inside = tuple(
        one for one in plan.assignments if (one.scope.strip("/") + "/").startswith(prefix)
    )
    if name.strip("/") and inside:
        return inside
    known = [text for one in plan.assignments for text in (one.name, one.key) if text]
    near = [text for text in known if name.lower() in text.lower()][:3]
    near = near or get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "keys look like main#12"
    raise PlanError(f"node {name!r}", "the plan has no such node", hint)


def explained_data(
    assignments: Sequence[Assignment], quantization: QuantizationPlan | None
) -> list[dict[str, Any]]:
    """What plans say of some nodes, as plain data."""
    found = []
    for one in assignments:
        data = asdict(one)
        if quantization is not None:
            data["quantization"] = quantization.describe(one.key, one.name, one.op_type)
        found.append(data)
    return found
