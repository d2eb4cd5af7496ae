"""A model as it can be run here with the roundings that its own dtypes ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpgraph import ir
from mpgraph.analysis.dtype_flow import infer_types
from mpgraph.runtime.emulate import LOW, MARK, emulated
from mpgraph.runtime.sessions import create_session
from mpgraph.runtime.survival import emulated_session
from mpgraph.targets import ROUNDS_ONCE, Arithmetic

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["faithful", "faithful_session"]


def faithful(model: ir.Model, arithmetic: Arithmetic = ROUNDS_ONCE) -> ir.Model:
    """The model itself where it holds no low dtype, else its emulation in float32.

    The CPU provider has no kernels for most operators in float16 and bfloat16: it computes them in
    float32 and hides their overflow, or does not load them at all.

    Args:
        model: The model; it is not changed.
        arithmetic: How the emulation computes (see ``emulated``).

    Raises:
        VerificationError, ConversionError: As ``emulated`` does.
    """
    flow = infer_types(model)
    holds_low = any(flow.dtype(value) in LOW for value in flow.types)
    return emulated(model, arithmetic) if holds_low else model


def faithful_session(model: ir.Model) -> InferenceSession:
    """A CPU session, without graph optimisations, for what ``faithful`` gave."""
    marked = any(node.name and node.name.startswith(MARK) for node in ir.nodes(model))
    return emulated_session(model) if marked else create_session(model, optimize=False)
