"""Raise the opset of a model where a dtype needs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.errors import CheckError, ConversionError, PolicyError
from mpgraph.passmgr import Facts, Pass
from mpgraph.policy import PolicyMap, Resolver, read_facts
from mpgraph.quant import required_opset

__all__ = ["ConvertOpset", "OpsetKept"]

_CAST_BY_NUMBER = 6
"""Before this opset, Cast names its dtype by a string."""

_BFLOAT16_SINCE = 13
"""The first opset whose Cast and common operators take bfloat16."""


@dataclass(frozen=True)
class OpsetKept:
    """The fact that a model could not be raised to the opset that its policy needs.

    Attributes:
        opset: The opset that it still has.
        why: What the converter said.
    """

    opset: int
    why: str


@dataclass(frozen=True)
class ConvertOpset(Pass):
    """Convert the model to a newer opset, operator by operator, never by the number alone.

    Attributes:
        to: The opset wanted; 0 asks for the lowest that the policy's dtypes need. A model whose
            opset is high enough is left alone. What cannot be converted is refused if a number
            was given; else the model stays as it is, without the dtypes that it is too old for.
    """

    to: int = 0

    name: ClassVar[str] = "convert-opset"

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Convert in place where needed."""
        wanted = self.to or _needed(facts.find(PolicyMap))
        if model.opset_imports.get("", wanted) >= wanted:
            return False
        try:
            converted = _convert(model, wanted, facts.find(PolicyMap))
        except CheckError as error:
            if self.to:
                raise
            facts.put(OpsetKept(model.opset_imports[""], error.rule))
            return False
        ir.adopt(model, converted)
        return True


def _convert(model: ir.Model, wanted: int, policy: PolicyMap | None) -> ir.Model:
    converted = ir.version_convert(model, wanted)
    ir.check_model(converted)
    if policy is not None:
        try:
            known = (one for _, one in read_facts(converted, policy))
            Resolver(policy).check_all_matched(known)
        except PolicyError as error:
            raise ConversionError(
                error.where, f"at opset {wanted} {error.rule}", "name the newer operator"
            ) from error
    return converted


def _needed(policy: PolicyMap | None) -> int:
    if policy is None:
        return _CAST_BY_NUMBER
    wanted = [
        required_opset(one.mode, one.compute_dtype)
        for one in policy.policies
        if one.mode is not None
    ]
    if "bfloat16" in {one.compute_dtype for one in policy.policies}:
        wanted.append(_BFLOAT16_SINCE)
    return max(wanted, default=_CAST_BY_NUMBER)
