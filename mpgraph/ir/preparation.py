"""Readies a model for onnx-ir's serialization, and takes that back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import onnx_ir

from mpgraph.ir.scopes import graphs
from mpgraph.ir.tensors import Replace, Substitution

__all__ = ["Preparation", "prepared"]


@contextmanager
def prepared(model: onnx_ir.Model, replace: Replace) -> Iterator[Preparation]:
    """Inside the block, a model holds other tensors and nothing that onnx-ir writes wrongly.

    * A shape without a type cannot be written; onnx-ir leaves an empty entry and a log line.
    * The type of an initializer is that of its tensor; onnx-ir writes both.

    Args:
        model: As it was after the block.
        replace: Returns the tensor that is written in the place of one of the model's.
    """
    preparation = Preparation(replace)
    try:
        preparation.prepare(model)
        yield preparation
    finally:
        preparation.undo()


class Preparation:
    """What one walk over a model hides and replaces.

    Attributes:
        needs_mending: Whether the proto may hold what onnx-ir cannot be kept from: types that are
            set aside in metadata, metadata of tensors that is written twice, and a second type of
            an initializer that is an output.
    """

    def __init__(self, replace: Replace) -> None:
        self.needs_mending = False
        self._substitution = Substitution(replace)
        self._hidden: list[
            tuple[onnx_ir.Value, onnx_ir.TypeProtocol | None, onnx_ir.Shape | None]
        ] = []

    def prepare(self, model: onnx_ir.Model) -> None:
        """Walks over the model and changes it."""
        for scope in graphs(model):
            for value in scope.graph.inputs:
                if value.type is None:
                    self._ready_typeless(value)
            for value in scope.graph.initializers.values():
                self._substitution.of_value(value)
                self._ready_initializer(value)
            for node in scope.graph:
                if node.attributes.data:
                    self._substitution.of_attributes(node)
                for value in node.outputs:
                    if value.type is None:
                        self._ready_typeless(value)
        for function in model.functions.values():
            self._substitution.of_attributes(function)
        self.needs_mending |= self._substitution.metadata

    def undo(self) -> None:
        """Gives the model back what `prepare` took."""
        for step in self._substitution.undo:
            step()
        for value, type_, shape in self._hidden:
            value.type, value.shape = type_, shape

    def _ready_typeless(self, value: onnx_ir.Value) -> None:
        if value.shape is not None:
            self._hide(value)
        self.needs_mending |= bool(value.metadata_props)

    def _ready_initializer(self, value: onnx_ir.Value) -> None:
        if value.is_graph_output():
            self.needs_mending = True
        elif not (value.is_graph_input() or value.doc_string or value.metadata_props):
            self._hide(value)

    def _hide(self, value: onnx_ir.Value) -> None:
        self._hidden.append((value, value.type, value.shape))
        value.type = value.shape = None
