"""Finds what can be scaled together, from the weights before to the weights behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mpgraph import ir
from mpgraph.analysis import TypeFlow
from mpgraph.quant.affine import Multiplier
from mpgraph.quant.affine.maps import FindConstant
from mpgraph.quant.equalization.gates import Gate
from mpgraph.quant.equalization.group import Group, Reader, Shift
from mpgraph.quant.placement.constants import Constant

__all__ = ["find_groups"]

_HOMOGENEOUS = frozenset(
    ["AveragePool", "GlobalAveragePool", "Identity", "LeakyRelu", "MaxPool", "Relu", "Resize"]
)
"""Operators of one computed operand for which f(s * x) = s * f(x) holds, channel by channel, for
all s above 0."""


def find_groups(
    multipliers: Mapping[ir.Node, Multiplier],
    gates: Mapping[ir.Node, Gate],
    flow: TypeFlow,
    find: FindConstant,
) -> Iterator[Group]:
    """Every group that can be scaled, each once.

    Args:
        multipliers: The Conv nodes whose weights may change.
        gates: Gates by the node that shifts and by the node that multiplies.
        flow: Types and shapes.
        find: Finds constants.
    """
    seen: set[ir.Node] = set()
    for node, multiplier in multipliers.items():
        if node in seen:
            continue
        group = None
        for drops in (True, False):
            search = _Search(multipliers, gates, flow, find, drops=drops)
            group = search.grow(multiplier)
            seen.update(search.group.sources)
            if group is not None:
                yield group
                break


class _Search:
    def __init__(
        self,
        multipliers: Mapping[ir.Node, Multiplier],
        gates: Mapping[ir.Node, Gate],
        flow: TypeFlow,
        find: FindConstant,
        *,
        drops: bool,
    ) -> None:
        self._multipliers = multipliers
        self._gates = gates
        self._flow = flow
        self._find = find
        self._drops = drops
        self._pending: list[ir.Value] = []
        self._visited: set[ir.Node] = set()
        self._unscaled: list[ir.Value] = []
        self.group = Group(0)

    def grow(self, start: Multiplier) -> Group | None:
        """The group that the result of a node is in; None where something in it resists."""
        self.group = Group(start.written.count)
        if not self._join(start.node.outputs[0], 1.0):
            return None
        while self._pending:
            if not self._visit(self._pending.pop()):
                return None
        group = self.group
        if any(value in group.values for value in self._unscaled) or not group.readers:
            return None
        return group

    def _join(self, value: ir.Value | None, factor: float) -> bool:
        if value is None or value.is_graph_output():
            return False
        known = self.group.values.get(value)
        if known is not None:
            return known == factor
        self.group.values[value] = factor
        self._pending.append(value)
        return True

    def _visit(self, value: ir.Value) -> bool:
        node = value.producer()
        if node is None:
            return False
        source = self._multipliers.get(node)
        if source is not None:
            if source.written.count != self.group.channels:
                return False
            self.group.sources[node] = source
        elif not self._pass(node):
            return False
        return all(self._read(use.node, use.idx, value) for use in value.uses())

    def _read(self, node: ir.Node, index: int, value: ir.Value) -> bool:
        reader = self._multipliers.get(node)
        if reader is not None:
            self.group.readers.append(Reader(reader, value))
            return index == 0 and reader.read.count == self.group.channels
        gate = self._gates.get(node)
        if gate is not None and node is gate.add:
            return True
        return self._pass(node) and node.outputs[0] in self.group.values

    def _pass(self, node: ir.Node) -> bool:
        """Tie the operands of a node that are scaled to its result."""
        if node in self._visited:
            return True
        self._visited.add(node)
        if node.domain != "" or node.graph is None:
            return False
        if node.op_type in _HOMOGENEOUS:
            return self._is_plain(node) and self._tie(node, [node.inputs[0]], 1.0)
        match node.op_type:
            case "Add" | "Sub":
                return self._add(node)
            case "Mul" | "Div":
                return self._multiply(node)
        return False

    def _is_plain(self, node: ir.Node) -> bool:
        """Whether a node is no more than its operator promises."""
        if node.op_type == "MaxPool":
            return sum(bool(value.name) for value in node.outputs) == 1
        mode = node.attributes.get("coordinate_transformation_mode")
        shape = self._flow.shape(node.outputs[0])
        if node.op_type == "Resize":
            crops = mode is not None and mode.as_string() == "tf_crop_and_resize"
            return not crops and shape is not None and shape[1:2] == (self.group.channels,)
        return True

    def _tie(self, node: ir.Node, operands: list[ir.Value | None], number: float) -> bool:
        """Let the result of a node have the factors of its operands over a number."""
        values = self.group.values
        result = node.outputs[0]
        known = [values[one] for one in operands if one in values]
        factor = known[0] if known else values[result] * number
        return self._join(result, factor / number) and all(
            self._join(one, factor) for one in operands
        )

    def _add(self, node: ir.Node) -> bool:
        constants = [self._find(value) for value in node.inputs]
        if constants == [None, None]:
            return all(self._is_full(one) for one in node.inputs) and self._tie(
                node, list(node.inputs), 1.0
            )
        index = 0 if constants[0] is not None else 1
        constant = constants[index]
        if constant is None or constants[1 - index] is not None:
            return False
        rank = len(self._flow.shape(node.outputs[0]) or ())
        aligned = (1,) * (rank - len(constant.shape)) + constant.shape
        extents = [extent for axis, extent in enumerate(aligned) if axis != 1]
        if rank < 3 or any(extent != 1 for extent in extents):
            return False
        if aligned[1] not in (1, self.group.channels):
            return False
        self.group.shifts.append(Shift(node, index, constant))
        return self._tie(node, [node.inputs[1 - index]], 1.0)

    def _multiply(self, node: ir.Node) -> bool:
        gate = self._gates.get(node)
        if gate is not None:
            self.group.gates.append(gate)
            return self._tie(node, [gate.value], 1.0)
        constants = [self._find(value) for value in node.inputs]
        if constants != [None, None]:
            return self._scale(node, constants)
        if node.op_type != "Mul":
            return False
        for full, flat in (node.inputs[:2], node.inputs[1::-1]):
            if full is not None and flat is not None and self._is_flat(flat):
                self._unscaled.append(flat)
                return self._tie(node, [full], 1.0)
        return False

    def _scale(self, node: ir.Node, constants: list[Constant | None]) -> bool:
        index = 0 if constants[0] is not None else 1
        constant, operand = constants[index], node.inputs[1 - index]
        if constant is None or operand is None or constants[1 - index] is not None:
            return False
        if constant.tensor.size != 1 or (node.op_type == "Div" and index == 0):
            return False
        number = constant.number
        if not number > 0.0:
            return False
        if not self._drops:
            return self._tie(node, [operand], 1.0)
        self.group.dropped.append((node, operand))
        return self._tie(node, [operand], number if node.op_type == "Mul" else 1.0 / number)

    def _is_full(self, value: ir.Value | None) -> bool:
        """Whether a value has all channels, so that nothing of it is broadcast along them."""
        shape = None if value is None else self._flow.shape(value)
        return shape is not None and shape[1:2] == (self.group.channels,)

    def _is_flat(self, value: ir.Value) -> bool:
        """Whether a value has one number for each channel, or one for all."""
        shape = self._flow.shape(value)
        return shape is not None and len(shape) > 2 and all(extent == 1 for extent in shape[2:])
