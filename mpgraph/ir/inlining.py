"""Local functions written out where they are called."""

from __future__ import annotations

import onnx_ir
from onnx_ir.passes import PreconditionError
from onnx_ir.passes.common import InlinePass

from mpgraph.errors import VerificationError

__all__ = ["inline_functions"]


def inline_functions(model: onnx_ir.Model) -> None:
    """Replaces every call of a local function by its body, in place; no function is left.

    Raises:
        VerificationError: Functions call each other in a circle, import another version of a domain
            than the model, or take a graph as an attribute.
    """
    try:
        InlinePass()(model)
    except (ValueError, PreconditionError) as error:
        raise VerificationError("local functions", f"cannot be inlined: {error}") from error
    model.functions.clear()
