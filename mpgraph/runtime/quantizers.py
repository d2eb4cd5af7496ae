"""What a session makes of the Q/DQ nodes of a model: fused, at an edge to float, or left over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from mpgraph import ir
from mpgraph.errors import ModelFileError, VerificationError
from mpgraph.runtime.placement import NodePlacement, Placement, observed_placement
from mpgraph.runtime.placement.kernels import COMPILED
from mpgraph.runtime.sessions import create_session
from mpgraph.targets import Target

__all__ = [
    "AccountedQuantizer",
    "Outcome",
    "QuantizerAccount",
    "account_quantizers",
    "computes_on_integers",
    "take_account",
    "unasked_account",
]

Outcome = Literal["fused", "edge", "folded", "compiled", "left"]

_QUANTIZERS = frozenset(["DequantizeLinear", "DynamicQuantizeLinear", "QuantizeLinear"])
_DOMAINS = ("", "ai.onnx", "com.microsoft")
_INTEGER_KERNELS = (
    *("ConvInteger", "DynamicQuantize", "MatMulBnb4", "MatMulInteger", "MatMulNBits"),
    *("QAttention", "QGemm", "QLinear", "WhereQuantized"),
)


@dataclass(frozen=True, slots=True)
class AccountedQuantizer:
    """What became of one QuantizeLinear, DequantizeLinear or DynamicQuantizeLinear.

    Attributes:
        key: Its graph and position in the converted model, such as ``main#12``.
        name: Its name.
        op_type: Its operator.
        outcome: ``fused``: a kernel on quantized numbers computes it along. ``edge``: it runs by
            itself, where float numbers become quantized ones or come out of a kernel on those.
            ``folded``: it was computed once, or dropped, while the model was loaded. ``compiled``:
            it is in a piece of the graph that the provider compiled, which tells no more.
            ``left``: it runs by itself and no kernel on quantized numbers has use of it.
        kernel: The operator of the kernel that it was fused into; empty where it was not.
        reason: Why it is left; empty where it is not.
    """

    key: str
    name: str
    op_type: str
    outcome: Outcome
    kernel: str = ""
    reason: str = ""


@dataclass(frozen=True)
class QuantizerAccount:
    """What became of every Q/DQ node that was inserted into a model.

    Attributes:
        target: The target on which a session was asked.
        quantizers: The nodes, in graph order; none where no session was asked.
        missed: Why no session was asked; empty where one was.
    """

    target: str
    quantizers: tuple[AccountedQuantizer, ...] = ()
    missed: str = ""

    @cached_property
    def outcomes(self) -> Counter[Outcome]:
        """How many nodes had each outcome."""
        return Counter(one.outcome for one in self.quantizers)

    @cached_property
    def kernels(self) -> Counter[str]:
        """How many nodes were fused into the kernels of each operator."""
        return Counter(one.kernel for one in self.quantizers if one.outcome == "fused")

    @property
    def left(self) -> tuple[AccountedQuantizer, ...]:
        """The nodes that only cost time."""
        return tuple(one for one in self.quantizers if one.outcome == "left")


def take_account(model: ir.Model, target: Target) -> QuantizerAccount:
    """Open a session on the target, and ask what it makes of the Q/DQ nodes that mpgraph inserted.

    One session does both. Where the model loads but the graph that runs is not told, ``missed``
    says why.

    Args:
        model: The converted model; it is not changed.
        target: Where it shall run.

    Raises:
        TargetError, MissingDependencyError: The target cannot be used here.
        VerificationError: onnxruntime does not load the model.
    """
    if not _has_inserted(model):
        create_session(model, target=target.name)
        return QuantizerAccount(target.name)
    try:
        placement = observed_placement(model, target)
    except (ModelFileError, VerificationError) as error:
        # In a session of its own the failure speaks of the model's names, and saves no graph.
        create_session(model, target=target.name)
        return QuantizerAccount(target.name, missed=error.rule)
    return QuantizerAccount(target.name, tuple(account_quantizers(model, placement)))


def unasked_account(model: ir.Model, target: Target, reason: str) -> QuantizerAccount:
    """The account where no session can be opened, for a reason such as a missing device."""
    return QuantizerAccount(target.name, missed=reason if _has_inserted(model) else "")


def account_quantizers(model: ir.Model, placement: Placement) -> Iterable[AccountedQuantizer]:
    """What became of each Q/DQ node that mpgraph inserted, in graph order.

    Args:
        model: The model.
        placement: Where its nodes run.
    """
    pairs = zip(ir.nodes(model), placement.nodes, strict=True)
    found = dict(pairs)
    for node, placed in found.items():
        if _is_inserted(node):
            yield _account(node, placed, found)


def computes_on_integers(op_type: str) -> bool:
    """Whether a kernel of onnxruntime computes on quantized numbers."""
    return op_type.startswith(_INTEGER_KERNELS)


def _account(
    node: ir.Node, placed: NodePlacement, found: Mapping[ir.Node, NodePlacement]
) -> AccountedQuantizer:
    key, name, op_type = placed.key, placed.name, placed.op_type
    if placed.state in ("folded", "removed"):
        return AccountedQuantizer(key, name, op_type, "folded")
    kernels = _operators(placed)
    if placed.state == "fused":
        if COMPILED in kernels:
            return AccountedQuantizer(key, name, op_type, "compiled")
        integer = [one for one in kernels if computes_on_integers(one)]
        kernel = next(iter([*integer, *kernels]), "")
        return AccountedQuantizer(key, name, op_type, "fused", kernel)
    is_used = (
        _comes_from_integers(node.inputs[0], found)
        if node.op_type == "DequantizeLinear"
        else _goes_into_integers(node, found)
    )
    if is_used:
        return AccountedQuantizer(key, name, op_type, "edge")
    return AccountedQuantizer(key, name, op_type, "left", reason=_why_left(node, found))


def _goes_into_integers(node: ir.Node, found: Mapping[ir.Node, NodePlacement]) -> bool:
    """Whether a kernel on quantized numbers reads what a node writes, or what moves it on."""
    pending, seen = [node], {node}
    while pending:
        for value in pending.pop().outputs:
            for use in value.uses():
                reader, placed = use.node, found.get(use.node)
                if placed is None or reader in seen:
                    continue
                seen.add(reader)
                if any(map(computes_on_integers, _operators(placed))):
                    return True
                if _moves(reader, placed):
                    pending.append(reader)
    return False


def _comes_from_integers(value: ir.Value | None, found: Mapping[ir.Node, NodePlacement]) -> bool:
    """Whether a kernel on quantized numbers writes a value, or what is moved into it."""
    pending, seen = [value], set[ir.Node]()
    while pending:
        value = pending.pop()
        producer = None if value is None else value.producer()
        placed = None if producer is None else found.get(producer)
        if producer is None or placed is None or producer in seen:
            continue
        seen.add(producer)
        if any(map(computes_on_integers, _operators(placed))):
            return True
        # A Relu or Clip vanishes into the quantization of its result.
        if _moves(producer, placed) or (placed.state == "fused" and not _is_quantizer(producer)):
            pending.extend(producer.inputs[:1])
    return False


def _moves(node: ir.Node, placed: NodePlacement) -> bool:
    """Whether a node hands quantized numbers on: Q/DQ that are fused, and what is between them."""
    if _is_quantizer(node):
        return placed.state == "fused"
    source = node.inputs[0] if node.inputs else None
    producer = None if source is None else source.producer()
    return producer is not None and _is_quantizer(producer)


def _why_left(node: ir.Node, found: Mapping[ir.Node, NodePlacement]) -> str:
    """What reads the numbers in float."""
    pending, seen = [node], {node}
    while pending:
        for value in pending.pop(0).outputs:
            if value.is_graph_output():
                return "an output of the model is read in float"
            for use in value.uses():
                reader = use.node
                if reader in seen:
                    continue
                seen.add(reader)
                if _is_quantizer(reader):
                    pending.append(reader)
                    continue
                placed = found.get(reader)
                kernels = _operators(placed) if placed is not None else ()
                kernel = next(iter(kernels), reader.op_type)
                return f"{reader.name or reader.op_type} runs as a {kernel} in float"
    return "nothing reads it"


def _operators(placed: NodePlacement) -> tuple[str, ...]:
    """The operators of the kernels that compute a node, which the placement gives in brackets."""
    return tuple(one.rpartition("(")[2].removesuffix(")") for one in placed.kernels)


def _has_inserted(model: ir.Model) -> bool:
    return any(map(_is_inserted, ir.nodes(model)))


def _is_inserted(node: ir.Node) -> bool:
    return _is_quantizer(node) and ir.origin(node) is not None


def _is_quantizer(node: ir.Node) -> bool:
    return node.op_type in _QUANTIZERS and node.domain in _DOMAINS
