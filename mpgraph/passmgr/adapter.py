"""Lets an onnx-ir pass of a third party stand in a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from mpgraph import ir
from mpgraph.errors import PipelineError
from mpgraph.passmgr.base import Pass
from mpgraph.passmgr.facts import Facts
from mpgraph.passmgr.pipeline_text import OptionValue, PassSpec

__all__ = ["OnnxIrPass"]

RULE = "onnx-ir pass"


@dataclass(frozen=True)
class OnnxIrPass(Pass):
    """Runs an onnx-ir pass on our model, in place, and stamps the nodes that it added.

    Attributes:
        path: "package.module:Class", its name in pipeline texts.
        factory: The class.
        options: Keyword arguments for the factory.
    """

    name: ClassVar[str] = "onnx-ir-pass"

    path: str
    factory: Callable[..., ir.PassBase]
    options: Mapping[str, OptionValue] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return self.path

    def spec(self) -> PassSpec:
        return PassSpec(self.path, self.options)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        inner = self._build()
        known_nodes = set(ir.nodes(model))
        known_names = {node.name for node in known_nodes}
        result = inner(model)
        if result.model is not model:
            _move(result.model, model)
            known_nodes = {node for node in ir.nodes(model) if node.name in known_names}
        for node in ir.nodes(model):
            if node not in known_nodes and ir.origin(node) is None:
                ir.stamp(node, self.path, RULE)
        return result.modified

    def _build(self) -> ir.PassBase:
        try:
            return self.factory(**self.options)
        except TypeError as error:
            raise PipelineError(
                f"pass '{self.path}'", f"does not take these options: {error}"
            ) from error


def _move(source: ir.Model, target: ir.Model) -> None:
    target.graph = source.graph
    target.functions.clear()
    target.functions.update(source.functions)
    target.metadata_props.clear()
    target.metadata_props.update(source.metadata_props)
    for name in ("ir_version", "producer_name", "producer_version", "domain", "model_version"):
        setattr(target, name, getattr(source, name))
    target.doc_string = source.doc_string
    target.device_configurations = source.device_configurations
