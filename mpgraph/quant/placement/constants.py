"""Constants that reach a node through operators that only move or copy them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from mpgraph import ir
from mpgraph.quant.formats.layout import Array
from mpgraph.schema import integer

__all__ = ["Constant", "find_constant"]


@dataclass(frozen=True)
class Constant:
    """A constant as a node takes it.

    Attributes:
        base: The value that the model stores: an initializer, or what a Constant node gives.
        tensor: What the node takes, computed when it is read.
        permutation: For each axis that the node sees, the axis of the base; None where elements are
            moved in another way than by swapping axes.
        path: The nodes between, from the base on.
    """

    base: ir.Value
    tensor: ir.TensorProtocol
    permutation: tuple[int, ...] | None
    path: tuple[ir.Node, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Its extents as the node sees them."""
        return tuple(int(extent) for extent in self.tensor.shape.numpy())

    @property
    def number(self) -> float:
        """The one number that it holds, or the first of several."""
        return float(self.tensor.numpy().reshape(-1)[0])


def find_constant(
    value: ir.Value | None, known: dict[ir.Value, Constant | None]
) -> Constant | None:
    """The constant behind a value, through Identity, Cast, Transpose, Reshape, Slice and the like.

    Args:
        value: An operand.
        known: What was found before, filled as the search goes on.
    """
    if value is None:
        return None
    if value not in known:
        known[value] = _find(value, known)
    return known[value]


def _find(value: ir.Value, known: dict[ir.Value, Constant | None]) -> Constant | None:
    if value.is_graph_input():
        return None
    tensor = ir.constant_tensor(value)
    if tensor is not None:
        return Constant(value, tensor, tuple(range(len(tensor.shape))))
    node = value.producer()
    if node is None or node.domain != "":
        return None
    move = _MOVES.get(node.op_type)
    source = None if move is None else find_constant(node.inputs[0], known)
    if move is None or source is None:
        return None
    moved = move(node, source, known)
    return None if moved is None else replace(moved, path=(*source.path, node))


def _identity(
    _node: ir.Node, source: Constant, _known: Mapping[ir.Value, Constant | None]
) -> Constant | None:
    return source


def _cast(
    node: ir.Node, source: Constant, _known: Mapping[ir.Value, Constant | None]
) -> Constant | None:
    dtype = ir.DataType(integer(node, "to", 0, {}))
    if source.tensor.dtype not in ir.FLOATS or dtype not in ir.FLOATS:
        return None
    return replace(source, tensor=ir.converted_tensor(source.tensor, dtype))


def _transpose(
    node: ir.Node, source: Constant, _known: Mapping[ir.Value, Constant | None]
) -> Constant | None:
    rank = len(source.shape)
    attribute = node.attributes.get("perm")
    if attribute is not None and attribute.is_ref():
        return None
    order = tuple(reversed(range(rank))) if attribute is None else tuple(attribute.as_ints())
    base = source.permutation
    return replace(
        source,
        tensor=_derived(source, lambda array: array.transpose(order)),
        permutation=None if base is None else tuple(base[axis] for axis in order),
    )


def _reshape(
    node: ir.Node, source: Constant, known: dict[ir.Value, Constant | None]
) -> Constant | None:
    wanted = find_constant(node.inputs[1], known)
    if wanted is None:
        return None
    extents = [int(extent) for extent in wanted.tensor.numpy().reshape(-1)]
    if not integer(node, "allowzero", 0, {}):
        given = source.shape
        extents = [given[axis] if extent == 0 else extent for axis, extent in enumerate(extents)]
    moved = _derived(source, lambda array: array.reshape(extents))
    return replace(source, tensor=moved, permutation=None)


def _flatten(
    node: ir.Node, source: Constant, _known: Mapping[ir.Value, Constant | None]
) -> Constant | None:
    axis = integer(node, "axis", 1, {})
    rows = int(np.prod(source.shape[:axis], dtype=np.int64))
    moved = _derived(source, lambda array: array.reshape(rows, -1))
    return replace(source, tensor=moved, permutation=None)


def _squeeze(
    node: ir.Node, source: Constant, known: dict[ir.Value, Constant | None]
) -> Constant | None:
    axes = _integers(node, "axes", 1, known)
    if axes is None and (node.op_type == "Unsqueeze" or len(node.inputs) > 1):
        return None
    taken = None if axes is None else tuple(axes)
    if node.op_type == "Squeeze":
        moved = _derived(source, lambda array: array.squeeze(taken))
    else:
        moved = _derived(source, lambda array: np.expand_dims(array, taken or ()))
    return replace(source, tensor=moved, permutation=None)


def _slice(
    node: ir.Node, source: Constant, known: dict[ir.Value, Constant | None]
) -> Constant | None:
    starts, ends = _integers(node, "starts", 1, known), _integers(node, "ends", 2, known)
    axes, steps = _integers(node, "axes", 3, known), _integers(node, "steps", 4, known)
    given = [index for index in (3, 4) if len(node.inputs) > index and node.inputs[index]]
    if starts is None or ends is None or (axes, steps).count(None) > 2 - len(given):
        return None
    taken = [slice(None)] * len(source.shape)
    for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
        step = 1 if steps is None else steps[index]
        if step < 1:
            return None
        taken[index if axes is None else axes[index]] = slice(start, end, step)
    moved = _derived(source, lambda array: array[tuple(taken)])
    return replace(source, tensor=moved, permutation=None)


def _concat(
    node: ir.Node, source: Constant, known: dict[ir.Value, Constant | None]
) -> Constant | None:
    """Parts of one constant in another order, as exporters write the gates of an LSTM."""
    parts = [find_constant(value, known) for value in node.inputs]
    found = [part for part in parts if part is not None and part.base is source.base]
    if len(found) != len(node.inputs):
        return None
    axis = integer(node, "axis", 0, {})
    tensors = [part.tensor for part in found[1:]]

    def joined(array: Array) -> Array:
        return np.concatenate([array, *(tensor.numpy() for tensor in tensors)], axis)

    extents = [*source.shape]
    extents[axis] = sum(part.shape[axis] for part in found)
    moved = ir.derived_tensor(source.tensor, joined, source.tensor.dtype, shape=ir.Shape(extents))
    return replace(source, tensor=moved, permutation=None)


def _integers(
    node: ir.Node, name: str, index: int, known: dict[ir.Value, Constant | None]
) -> list[int] | None:
    """A list that is an operand, or an attribute in older opsets; None where it is not known."""
    attribute = node.attributes.get(name)
    if attribute is not None:
        return None if attribute.is_ref() else list(attribute.as_ints())
    constant = find_constant(node.inputs[index], known) if len(node.inputs) > index else None
    return None if constant is None else constant.tensor.numpy().reshape(-1).tolist()


_Move = Callable[[ir.Node, Constant, dict[ir.Value, Constant | None]], Constant | None]

_MOVES: Mapping[str, _Move] = {
    "Cast": _cast,
    "Concat": _concat,
    "Flatten": _flatten,
    "Identity": _identity,
    "Reshape": _reshape,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
    "Unsqueeze": _squeeze,
}


def _derived(source: Constant, move: Callable[[Array], Array]) -> ir.TensorProtocol:
    empty = np.broadcast_to(np.zeros(()), source.shape)
    return ir.derived_tensor(
        source.tensor,
        lambda array: np.ascontiguousarray(move(array)),
        source.tensor.dtype,
        shape=ir.Shape(move(empty).shape),
    )
