"""Sessions for emulated models, and the check that onnxruntime kept every rounding."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from mpgraph import ir
from mpgraph.errors import VerificationError
from mpgraph.runtime.emulate import LOW, MARK
from mpgraph.runtime.sessions import create_session

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["check_survival", "emulated_session"]

_DOWN, _HOLD = f"{MARK}down.", f"{MARK}hold."


def emulated_session(model: ir.Model, *, threads: int = 0) -> InferenceSession:
    """A CPU session for a model that ``emulated`` made, without graph optimisations.

    Raises:
        VerificationError: The model does not load, or onnxruntime took out a rounding.
    """
    with tempfile.TemporaryDirectory(prefix="mpgraph-") as folder:
        path = Path(folder) / "optimized.onnx"
        session = create_session(model, optimize=False, threads=threads, optimized_path=path)
        check_survival(model, ir.load(path))
    return session


def check_survival(model: ir.Model, optimized: ir.Model) -> None:
    """Check that ``optimized``, dumped by onnxruntime, rounds wherever ``model`` does.

    A rounding stands when its Cast still has the low dtype, only the Identity reads the Cast, and
    nothing but the Cast reads the value before rounding.

    Raises:
        VerificationError: Naming the first rounding that is gone or bypassed.
    """
    wanted = _roundings(model)
    found = _roundings(optimized)
    for name, dtype in wanted.items():
        if name not in found:
            raise VerificationError(
                name, f"onnxruntime removed or bypassed the rounding to {ir.dtype_name(dtype)}"
            )
        if found[name] != dtype:
            raise VerificationError(name, f"onnxruntime rounds to {ir.dtype_name(found[name])}")


def _roundings(model: ir.Model) -> dict[str, ir.DataType]:
    """Name of each Cast that rounds and that everything after it has to pass -> its dtype."""
    found: dict[str, ir.DataType] = {}
    for node in ir.nodes(model):
        name = node.name or ""
        if node.op_type != "Cast" or not name.startswith(_DOWN):
            continue
        dtype = ir.DataType(node.attributes["to"].as_int())
        source, low = node.inputs[0], node.outputs[0]
        if dtype not in LOW or source is None:
            continue
        readers = Counter(user.op_type for user, _ in low.uses())
        holds = [user for user, _ in low.uses() if (user.name or "").startswith(_HOLD)]
        bypassed = len(source.uses()) != 1 or source.is_graph_output() or low.is_graph_output()
        if readers == Counter({"Identity": 1}) and len(holds) == 1 and not bypassed:
            found[name] = dtype
    return found
