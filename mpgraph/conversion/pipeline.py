"""The pipeline that converts a model, with its options filled in."""

from __future__ import annotations

from mpgraph import ir
from mpgraph.errors import InputError
from mpgraph.passmgr.pipelines import (
    ANNOTATE,
    CONVERT,
    CONVERT_WITH_DATA,
    QUANTIZE,
    QUANTIZE_WITHIN,
)
from mpgraph.policy import PolicyMap

__all__ = ["pipeline_text"]


def pipeline_text(
    model: ir.Model,
    policy: PolicyMap,
    *,
    has_data: bool,
    keep_io_types: bool,
    allow_slow: bool,
    storage: str,
    tolerance: float,
    max_error: float | None,
    annotate: bool,
) -> str:
    """The text of the standard pipeline for one model.

    Args:
        model: The model; notes that it has are renewed.
        policy: The policy of its nodes.
        has_data: Whether there is data to measure on; what ``calibrate`` found is none.
        keep_io_types: Whether graph inputs and outputs keep their dtypes.
        allow_slow: Whether what only loses time is done too.
        storage: ``compute`` or ``variable``.
        tolerance: Largest error of rounding, over the range of an output; ``max_error`` lowers it.
        max_error: Largest error in the end, likewise; None where no limit was given.
        annotate: Whether dtypes and reasons are written into the metadata.

    Raises:
        InputError: A switch is not a bool.
    """
    parts = [CONVERT_WITH_DATA if has_data else CONVERT]
    if any(one.mode is not None for one in policy.policies):
        parts.append(QUANTIZE if max_error is None else QUANTIZE_WITHIN)
    if annotate or _is_annotated(model):
        parts.append(ANNOTATE)
    return ",".join(parts).format(
        keep_io_types=_switch(keep_io_types),
        allow_slow=_switch(allow_slow),
        storage=storage,
        tolerance=tolerance if max_error is None else min(tolerance, max_error),
        max_error=max_error,
    )


def _is_annotated(model: ir.Model) -> bool:
    return any(any(ir.annotation(node)) for node in ir.nodes(model))


def _switch(value: bool) -> str:
    if not isinstance(value, bool):
        raise InputError("option", f"{value!r} is neither True nor False", "give a bool")
    return "true" if value else "false"
