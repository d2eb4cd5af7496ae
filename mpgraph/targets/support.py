"""The ways in which a node may run on a target."""

from __future__ import annotations

from enum import Enum

__all__ = ["Support"]


class Support(Enum):
    """How a node with given element types would run on a target."""

    NATIVE = "native"
    """The provider itself has a kernel for these types."""

    EXPANDED = "expanded"
    """No kernel: onnxruntime replaces the node by the function body that its schema gives."""

    CAST_AROUND = "cast-around"
    """It runs on the CPU provider because onnxruntime puts casts around a float32 kernel."""

    FALLBACK = "fallback"
    """Only the CPU provider can run it; the values are copied there and back."""

    NONE = "none"
    """The model would not load, or the node would fail when it runs."""
