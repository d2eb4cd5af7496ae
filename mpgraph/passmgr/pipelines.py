"""The standard pipelines, as texts that the registry resolves when a job runs."""

from __future__ import annotations

__all__ = ["APPLY", "CONVERT", "CONVERT_WITH_DATA"]

_PREPARE = "normalize,convert-opset"
_DECIDE = (
    "infer-dtypes,assign-policy{{keep-io-types={keep_io_types}}},protect-numerics,"
    "legalize{{allow-slow={allow_slow}}},place-casts"
)
APPLY = "insert-casts,convert-weights{{storage={storage}}},fold"
"""Carry out a plan that the facts hold."""

CONVERT = f"{_PREPARE},{_DECIDE},{APPLY}"
"""The main job, on static evidence."""

CONVERT_WITH_DATA = f"{_PREPARE},measure,{_DECIDE},{APPLY}"
"""The main job, with evidence measured on data."""
