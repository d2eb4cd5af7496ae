"""How findings name a low dtype."""

from __future__ import annotations

from mpgraph import ir

__all__ = ["short_name"]

_SHORT = {ir.DataType.FLOAT16: "fp16", ir.DataType.BFLOAT16: "bf16"}


def short_name(dtype: ir.DataType) -> str:
    """The name of a dtype in findings: ``fp16``, ``bf16``, else its full name."""
    return _SHORT.get(dtype) or ir.dtype_name(dtype)
