"""What is written into a model for those who look at it: dtypes, and why they are what they are."""

from __future__ import annotations

import onnx_ir

from mpgraph.ir.dtypes import dtype_name

__all__ = ["annotation", "note_dtype", "note_reason"]

_DTYPE = "mpgraph.dtype"
_REASON = "mpgraph.reason"


def note_dtype(place: onnx_ir.Node | onnx_ir.Value, dtype: onnx_ir.DataType | None) -> bool:
    """Writes the dtype of a node or value into its metadata; returns whether that changed it.

    For None, which says that it is unknown, an earlier note is taken away.
    """
    if dtype is None:
        return place.metadata_props.pop(_DTYPE, None) is not None
    return _note(place, _DTYPE, dtype_name(dtype))


def note_reason(node: onnx_ir.Node, reason: str) -> bool:
    """Writes why a node has its dtype into its metadata; returns whether that changed it."""
    return _note(node, _REASON, reason)


def annotation(place: onnx_ir.Node | onnx_ir.Value) -> tuple[str, str]:
    """Returns the dtype and the reason that were noted, each empty where there is none."""
    return place.metadata_props.get(_DTYPE, ""), place.metadata_props.get(_REASON, "")


def _note(place: onnx_ir.Node | onnx_ir.Value, key: str, text: str) -> bool:
    changed = place.metadata_props.get(key) != text
    place.metadata_props[key] = text
    return changed
