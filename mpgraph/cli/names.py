"""Option names: `-` and `_` are the same, and names of other tools are understood."""

from __future__ import annotations

__all__ = ["normalize_name"]

ALIASES = {
    "abs-tol": "atol",
    "calibration-data": "data",
    "calibration-data-path": "data",
    "ep": "target",
    "exclude": "nodes-to-exclude",
    "input-data": "data",
    "load-inputs": "data",
    "max-samples": "samples",
    "method": "calibration-method",
    "node-block-list": "nodes-to-exclude",
    "op-block-list": "op-types-to-exclude",
    "output-path": "output",
    "providers": "target",
    "rel-tol": "rtol",
    "shapes": "input-shapes",
}


def normalize_name(name: str) -> str:
    """The name under which an option or command is defined here."""
    dashed = name.replace("_", "-")
    return ALIASES.get(dashed, dashed)
