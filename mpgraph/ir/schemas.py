"""Thin access to the operator schemas that onnx ships."""

from __future__ import annotations

from functools import cache

import onnx.defs
from onnx.defs import OpSchema

__all__ = ["OpSchema", "all_schemas", "operator_schema"]


@cache
def operator_schema(domain: str, op_type: str, opset: int) -> OpSchema | None:
    """Returns the schema in force for an operator at an opset version, or None if there is none.

    Args:
        domain: "" (or "ai.onnx"), "ai.onnx.ml", ...; other domains are unknown to onnx.
        op_type: Operator name.
        opset: Imported version of the domain.
    """
    domain = "" if domain == "ai.onnx" else domain
    try:
        return onnx.defs.get_schema(op_type, opset, domain)
    except onnx.defs.SchemaError:
        return None


def all_schemas() -> list[OpSchema]:
    """Returns every schema of every version that onnx ships."""
    return list(onnx.defs.get_all_schemas_with_history())
