"""Raise the opset of a model where a dtype needs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.passmgr import Facts, Pass
from mpgraph.policy import PolicyMap

__all__ = ["ConvertOpset"]

_CAST_BY_NUMBER = 6
"""Before this opset, Cast names its dtype by a string."""

_BFLOAT16_SINCE = 13
"""The first opset whose Cast and common operators take bfloat16."""


@dataclass(frozen=True)
class ConvertOpset(Pass):
    """Convert the model to a newer opset, operator by operator, never by the number alone.

    Attributes:
        to: The opset wanted; 0 asks for the lowest that the policy's dtypes need. A model whose
            opset is high enough is left alone.
    """

    to: int = 0

    name: ClassVar[str] = "convert-opset"

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Convert in place where needed."""
        wanted = self.to or _needed(facts.find(PolicyMap))
        if model.opset_imports.get("", wanted) >= wanted:
            return False
        ir.replace_contents(model, ir.convert_opset(model, wanted))
        return True


def _needed(policy: PolicyMap | None) -> int:
    if policy is None:
        return _CAST_BY_NUMBER
    computes = {policy.default.compute_dtype, *(one.policy.compute_dtype for one in policy.rules)}
    return _BFLOAT16_SINCE if "bfloat16" in computes else _CAST_BY_NUMBER
