"""Store float constants in the dtypes that the plan gives them, one tensor at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from mpgraph import ir
from mpgraph.passmgr import Facts, Pass
from mpgraph.plan import Labelling
from mpgraph.schema import tensor, to_ir_type

__all__ = ["ConvertWeights"]

_CAST_WORTH_BYTES = 100
"""A constant that would save less than this is stored as it is used: a Cast costs about as much."""


@dataclass(frozen=True)
class ConvertWeights(Pass):
    """Give every consumer of a float constant a copy in its dtype.

    Consumers that agree share one copy; conversion is lazy, so that saving reads, converts and
    writes one tensor at a time. Where the stored dtype differs from the one that is computed with,
    a Cast stands between.

    Attributes:
        storage: ``compute`` stores what is computed with, or what the policy asked for where the
            target computes wider; ``variable`` keeps the dtype that the model has and casts.
    """

    storage: str = "compute"

    name: ClassVar[str] = "convert-weights"
    requires: ClassVar[tuple[type, ...]] = (Labelling,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Convert all float constants."""
        labelling = facts.get(Labelling)
        writer = _ConstantWriter(ir.Namer(model))
        changed = False
        for value, found in _uses(labelling, self.storage).items():
            original = labelling.graph.constants[value]
            uses = _stored_once(value, found)
            if set(uses) == {(original, original)}:
                continue
            if not changed:
                ir.import_default_domain(model)
            changed = True
            writer.write(value, original, uses)
        return changed


@dataclass
class _Users:
    operands: list[tuple[ir.Node, int]] = field(default_factory=list)
    outputs: list[tuple[ir.Graph, int]] = field(default_factory=list)


_Form = tuple[ir.DataType, ir.DataType]
"""How a constant is stored, and how it is used."""


def _uses(labelling: Labelling, storage: str) -> dict[ir.Value, dict[_Form, _Users]]:
    uses: dict[ir.Value, dict[_Form, _Users]] = {}
    for node, cells in labelling.graph.operands.items():
        for index, (value, cell) in enumerate(zip(node.inputs, cells, strict=True)):
            if value is None or value not in labelling.graph.constants:
                continue
            form = _form(labelling, value, cell, storage)
            uses.setdefault(value, {}).setdefault(form, _Users()).operands.append((node, index))
    for graph, cells in labelling.graph.graph_outputs.items():
        for index, (value, cell) in enumerate(zip(graph.outputs, cells, strict=True)):
            if value not in labelling.graph.constants:
                continue
            form = _form(labelling, value, cell, storage)
            uses.setdefault(value, {}).setdefault(form, _Users()).outputs.append((graph, index))
    return uses


def _stored_once(value: ir.Value, uses: dict[_Form, _Users]) -> dict[_Form, _Users]:
    """Let a constant that would be stored in several dtypes be stored in the widest alone.

    The others are cast from it, which a runtime does once, when it loads the model. Small ones are
    stored twice: a Cast would be larger.
    """
    narrowest = min((stored.bitwidth for stored, _ in uses), default=0)
    if len({stored for stored, _ in uses}) == 1 or (
        _elements(value) * narrowest // 8 < _CAST_WORTH_BYTES
    ):
        return uses
    widest = max((stored for stored, _ in uses), key=lambda dtype: (dtype.bitwidth, dtype))
    merged: dict[_Form, _Users] = {}
    for (_, used), users in uses.items():
        kept = merged.setdefault((widest, used), _Users())
        kept.operands += users.operands
        kept.outputs += users.outputs
    return merged


def _form(labelling: Labelling, value: ir.Value, cell: int | None, storage: str) -> _Form:
    original = labelling.graph.constants[value]
    if cell is None:
        return original, original
    used = labelling.labels[cell]
    stored = original if storage == "variable" else labelling.stored[cell]
    if storage == "compute" and stored != used:
        saved = _elements(value) * (used.bitwidth - stored.bitwidth) // 8
        stored = stored if saved >= _CAST_WORTH_BYTES else used
    return stored, used


def _elements(value: ir.Value) -> int:
    constant = ir.constant_tensor(value)
    return 0 if constant is None else constant.size


class _ConstantWriter:
    def __init__(self, namer: ir.Namer) -> None:
        self._namer = namer

    def write(self, value: ir.Value, original: ir.DataType, uses: dict[_Form, _Users]) -> None:
        """Replace one constant by a copy per stored dtype, with casts to the dtypes used."""
        source = ir.constant_tensor(value)
        if source is None:
            return
        stored = {form[0] for form in uses}
        copies = {
            dtype: value if dtype == original else self._copy(value, source, dtype, len(stored))
            for dtype in sorted(stored)
        }
        for (kept, used), users in uses.items():
            result = copies[kept] if kept == used else self._cast(copies[kept], used)
            for node, index in users.operands:
                node.replace_input_with(index, result)
            for graph, index in users.outputs:
                graph.outputs[index] = result
            if users.outputs and result is not value:
                self._take_name(value, result)

    def _take_name(self, value: ir.Value, result: ir.Value) -> None:
        """Give the public name of an output to what replaces it."""
        public = value.name or ""
        value.name = self._namer.value_name(f"{public}_inner")
        result.name = public

    def _copy(
        self, value: ir.Value, source: ir.TensorProtocol, dtype: ir.DataType, copies: int
    ) -> ir.Value:
        graph = value.graph
        if graph is None:
            raise ValueError(f"{value.name}: it belongs to no graph")
        name = self._namer.value_name(f"{value.name}_{ir.dtype_name(dtype)}")
        if copies == 1 and not value.is_graph_output():
            name, value.name = value.name or name, name
        converted = ir.converted_tensor(source, dtype, name=name)
        producer = value.producer()
        if producer is None:
            copy = ir.Value(
                name=name, type=to_ir_type(tensor(dtype)), shape=value.shape, const_value=converted
            )
            graph.register_initializer(copy)
            return copy
        node = ir.node(
            "Constant",
            [],
            attributes={"value": converted},
            name=self._namer.node_name(f"{producer.name or value.name}_{ir.dtype_name(dtype)}"),
        )
        ir.stamp(node, "convert-weights", f"stored in {ir.dtype_name(dtype)}")
        copy = node.outputs[0]
        copy.name, copy.type, copy.shape = name, to_ir_type(tensor(dtype)), value.shape
        graph.insert_before(producer, node)
        return copy

    def _cast(self, stored: ir.Value, dtype: ir.DataType) -> ir.Value:
        rule = f"computed in {ir.dtype_name(dtype)}"
        return ir.insert_cast(stored, dtype, self._namer, "convert-weights", rule)
