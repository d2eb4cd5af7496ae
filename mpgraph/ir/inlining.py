"""Local functions written out where they are called."""

from __future__ import annotations

import onnx.inliner
import onnx_ir
from onnx_ir.passes import PreconditionError
from onnx_ir.passes.common import InlinePass

from mpgraph.errors import VerificationError
from mpgraph.ir.edits import adopt
from mpgraph.ir.scopes import opset_of
from mpgraph.ir.stubs import restored, with_stubs

__all__ = ["inline_functions"]


def inline_functions(model: onnx_ir.Model) -> None:
    """Replaces every call of a local function by its body, in place; no function is left.

    A body that imports another version of ONNX's own operators than the model is converted to the
    model's.

    Raises:
        VerificationError: Functions call each other in a circle, import another version of another
            domain, take a graph as an attribute, or cannot be converted to the model's version.
    """
    try:
        if any(_is_of_another_version(model, one) for one in model.functions.values()):
            # onnx-ir refuses such functions; onnx's own inliner converts them.
            proto, weights = with_stubs(model)
            inlined = onnx.inliner.inline_local_functions(proto, convert_version=True)
            adopt(model, restored(inlined, model, weights))
        InlinePass()(model)
    except (ValueError, RuntimeError, PreconditionError) as error:
        raise VerificationError("local functions", f"cannot be inlined: {error}") from error
    model.functions.clear()


def _is_of_another_version(model: onnx_ir.Model, function: onnx_ir.Function) -> bool:
    own = opset_of("", function.opset_imports)
    return own is not None and own != opset_of("", model.opset_imports)
