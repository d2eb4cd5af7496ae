"""Sessions for emulated models, and the check that onnxruntime kept every rounding."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpgraph import ir
from mpgraph.errors import VerificationError
from mpgraph.ir.files import read_proto
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
        # Not ir.load: what onnxruntime dumps does not always pass the checker.
        check_survival(model, read_proto(path))
    return session


def check_survival(model: ir.Model, optimized: Any) -> None:
    """Check that ``optimized``, dumped by onnxruntime, rounds wherever ``model`` does.

    A rounding stands when its Cast still has the low dtype, only the Identity reads the Cast, and
    nothing but the Cast reads the value before rounding.

    Args:
        model: What was given to onnxruntime.
        optimized: The ``ModelProto`` that it will run.

    Raises:
        VerificationError: Naming the first rounding that is gone or bypassed.
    """
    found: dict[str, ir.DataType] = {}
    _collect(optimized.graph, found)
    for node in ir.nodes(model):
        name = node.name or ""
        if not name.startswith(_DOWN):
            continue
        dtype = ir.DataType(node.attributes["to"].as_int())
        if name not in found:
            raise VerificationError(
                name, f"onnxruntime removed or bypassed the rounding to {ir.dtype_name(dtype)}"
            )
        if found[name] != dtype:
            raise VerificationError(name, f"onnxruntime rounds to {ir.dtype_name(found[name])}")


@dataclass(frozen=True, slots=True)
class _Read:
    """One operand of a node, or an output of a graph (then without op type and name)."""

    value: str
    op_type: str = ""
    node: str = ""


def _collect(graph: Any, found: dict[str, ir.DataType]) -> list[_Read]:
    """Put the roundings that stand into ``found``; returns all reads in ``graph`` and below."""
    reads = [_Read(output.name) for output in graph.output]
    for node in graph.node:
        reads.extend(_Read(name, node.op_type, node.name) for name in node.input)
        for attribute in node.attribute:
            if attribute.type == ir.AttributeType.GRAPH:
                reads.extend(_collect(attribute.g, found))
            for inner in attribute.graphs:
                reads.extend(_collect(inner, found))
    readers: dict[str, list[_Read]] = defaultdict(list)
    for read in reads:
        readers[read.value].append(read)
    for node in graph.node:
        name = _own_name(node.name)
        if node.op_type != "Cast" or not name.startswith(_DOWN):
            continue
        to = next(attribute.i for attribute in node.attribute if attribute.name == "to")
        after = readers[node.output[0]]
        is_held = len(after) == 1 and after[0].op_type == "Identity"
        is_named = is_held and _own_name(after[0].node).startswith(_HOLD)
        is_only_reader = len(readers[node.input[0]]) == 1
        if to in LOW and is_named and is_only_reader:
            found[name] = ir.DataType(to)
    return reads


def _own_name(name: str) -> str:
    # onnxruntime expands SequenceMap and puts a prefix before the names of the body.
    return name[name.find(MARK) :] if MARK in name else name
