"""Fold BatchNormalization, and what else scales and shifts channels, into weights and biases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types_and_shapes
from mpgraph.passmgr import Facts, Pass
from mpgraph.policy import PolicyMap, resolve_nodes
from mpgraph.quant.affine import (
    Agree,
    Chain,
    Multiplier,
    Shared,
    find_before,
    find_behind,
    find_multiplier,
)
from mpgraph.quant.formats.layout import Array
from mpgraph.quant.placement.constants import Constant, find_constant
from mpgraph.quant.rewriting import Writer, put_constant, remove_unread

__all__ = ["FoldBatchNorm"]


_BROADCASTS_SINCE = 7
"""Before this opset, Add and Mul align their operands by attributes."""

_FOLDED = frozenset(["Add", "BatchNormalization", "Div", "Mul", "Sub"])


@dataclass(frozen=True)
class FoldBatchNorm(Pass):
    """Let the weights of Conv, ConvTranspose, Gemm and MatMul do what scales and shifts channels.

    Folded are BatchNormalization, Mul, Div, Add and Sub with constants: behind a node whose result
    they alone read, and before nodes that alone read theirs. A shift goes into a weight behind it
    only where no padding lacks it. Weights are computed when they are read; those that other nodes
    take too are copied.

    Where the facts hold a policy, only nodes that it quantizes are changed, and what a rule selects
    for itself stays.
    """

    name: ClassVar[str] = "fold-batch-norm"

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Fold in every graph of the model, inner ones included."""
        agree = _agreement(model, facts.find(PolicyMap))
        if agree is None:
            return False
        scopes = [
            scope
            for scope in ir.graphs(model)
            if (ir.opset_of("", scope.opset_imports) or 0) >= _BROADCASTS_SINCE
        ]
        if not any(node.op_type in _FOLDED for scope in scopes for node in scope.graph):
            return False
        flow = infer_types_and_shapes(model)
        folder = _Folder(Writer(model, self.name), flow, agree)
        changed = False
        for scope in scopes:
            changed |= folder.fold_behind(scope.graph)
            if folder.fold_before(scope.graph):
                folder.fold_behind(scope.graph)
                changed = True
        return changed


def _agreement(model: ir.Model, policy: PolicyMap | None) -> Agree | None:
    """Which nodes may become part of which; None where the policy quantizes nothing."""
    if policy is None:
        return lambda _multiplier, _node: True
    if all(one.mode is None for one in policy.policies):
        return None
    found = resolve_nodes(model, policy)

    def agree(multiplier: ir.Node, node: ir.Node) -> bool:
        own = found.get(multiplier)
        if own is None or own.policy.mode is None:
            return False
        other = found.get(node)
        return other is None or other.rule is None or other.rule is own.rule

    return agree


class _Folder:
    def __init__(self, writer: Writer, flow: TypeFlow, agree: Agree) -> None:
        self._writer = writer
        self._flow = flow
        self._agree = agree
        self._known: dict[ir.Value, Constant | None] = {}

    def fold_behind(self, graph: ir.Graph) -> bool:
        """Fold what follows each multiplier of a graph."""
        changed = False
        for node in graph:
            multiplier = find_multiplier(node, self._flow, self._find)
            if multiplier is None:
                continue
            chain = find_behind(multiplier, self._find, self._agree)
            if chain is not None:
                self._take_over(multiplier, chain)
                changed = True
        return changed

    def fold_before(self, graph: ir.Graph) -> bool:
        """Fold what comes before multipliers, the last one first."""
        changed = False
        for node in reversed(list(graph)):
            if node.op_type not in _FOLDED:
                continue
            readers = dict.fromkeys(use.node for use in node.outputs[0].uses())
            found = {one: find_multiplier(one, self._flow, self._find) for one in readers}
            shared = find_before(node, found, self._find, self._agree)
            if shared is not None:
                self._hand_on(shared)
                changed = True
        return changed

    def _find(self, value: ir.Value | None) -> Constant | None:
        return find_constant(value, self._known)

    def _take_over(self, multiplier: Multiplier, chain: Chain) -> None:
        """Scale the weight, scale and shift the bias, and drop what did so behind the node."""
        affine = chain.affine
        result = multiplier.node.outputs[0]
        constants = [operand for one in chain.nodes for operand in one.inputs]
        if affine.scales:
            self._scale_weight(multiplier, affine.scale, reads=False)
        if multiplier.bias is not None or affine.shifts:
            bias = np.zeros(1) if multiplier.bias is None else multiplier.bias
            bias = bias * multiplier.factor("beta") * affine.scale + affine.shift
            result = self._shift(multiplier, _bias_tensor(multiplier, bias))
        for one in chain.nodes:
            self._writer.replace(one, result)
        for operand in constants:
            remove_unread(operand)

    def _hand_on(self, shared: Shared) -> None:
        """Let the readers of a node do what it did."""
        operands = list(shared.node.inputs)
        for reader in shared.readers:
            if shared.affine.shifts:
                self._shift(reader, _response_tensor(reader, shared.affine.shift))
            if shared.affine.scales:
                self._scale_weight(reader, shared.affine.scale, reads=True)
            reader.node.replace_input_with(0, shared.value)
        remove_unread(shared.node.outputs[0])
        for operand in operands:
            remove_unread(operand)

    def _shift(self, multiplier: Multiplier, bias: ir.TensorProtocol) -> ir.Value:
        """Let a node add a bias; a MatMul gets an Add behind it. Returns what it gives then."""
        node = multiplier.node
        result = node.outputs[0]
        if node.op_type != "MatMul":
            self._put(node, 2, f"{result.name}_bias", bias, _base(self._find(_operand(node, 2))))
            if "beta" in node.attributes:
                node.attributes["beta"] = ir.AttrFloat32("beta", 1.0)
            return result
        uses = tuple(result.uses())
        constant = self._writer.constant(_graph_of(node), f"{result.name}_bias", bias)
        (total,) = self._writer.behind(
            result,
            "Add",
            [result, constant],
            [(f"{result.name}_shifted", bias.dtype)],
            rule="the shift of what was folded into the weight",
        )
        ir.copy_shape(result, total)
        ir.redirect(uses, total)
        return total

    def _scale_weight(self, multiplier: Multiplier, scale: Array, *, reads: bool) -> None:
        source, base = multiplier.weight.tensor, multiplier.weight.base
        factor = multiplier.weight_factor(scale, reads=reads)
        tensor = ir.derived_tensor(source, lambda array: _times(array, factor), source.dtype)
        self._put(multiplier.node, 1, base.name or "weight", tensor, base)

    def _put(
        self, node: ir.Node, index: int, name: str, tensor: ir.TensorProtocol, base: ir.Value | None
    ) -> None:
        """Give a node another constant, under the name of the old one if that is gone then: rules
        may name it."""
        value = put_constant(self._writer, node, index, name, tensor)
        if base is not None and _is_gone(base):
            value.name = tensor.name = base.name


def _operand(node: ir.Node, index: int) -> ir.Value | None:
    return node.inputs[index] if index < len(node.inputs) else None


def _base(constant: Constant | None) -> ir.Value | None:
    return None if constant is None else constant.base


def _is_gone(base: ir.Value) -> bool:
    producer = base.producer()
    return not base.is_initializer() if producer is None else producer.graph is None


def _graph_of(node: ir.Node) -> ir.Graph:
    graph = node.graph
    if not isinstance(graph, ir.Graph):
        raise ValueError(f"{ir.describe(node)}: it belongs to no graph")
    return graph


def _bias_tensor(multiplier: Multiplier, bias: Array) -> ir.TensorProtocol:
    dtype = multiplier.weight.tensor.dtype
    full = np.broadcast_to(bias, (multiplier.written.count,))
    return ir.tensor(full.astype(dtype.numpy()), dtype=dtype)


def _response_tensor(reader: Multiplier, shift: Array) -> ir.TensorProtocol:
    """The bias with what a shift of the input adds to it, computed when it is read."""
    dtype = reader.weight.tensor.dtype
    bias = np.zeros(1) if reader.bias is None else reader.bias
    bias, alpha = bias * reader.factor("beta"), reader.factor("alpha")

    def total(weight: Array) -> Array:
        return np.asarray(bias + alpha * reader.response(weight, shift), dtype.numpy())

    shape = ir.Shape([reader.written.count])
    return ir.derived_tensor(reader.weight.tensor, total, dtype, shape=shape)


def _times(array: Array, factor: Array) -> Array:
    """The product, rounded once; numpy computes it in float64 piece by piece."""
    wide = array.astype(np.float64 if array.dtype == np.float64 else np.float32)
    np.multiply(wide, factor, out=wide, casting="same_kind")
    return wide.astype(array.dtype)
