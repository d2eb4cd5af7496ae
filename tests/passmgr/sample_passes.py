"""Passes that the tests of the pass manager run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import onnx
import onnx.parser

from mpgraph import ir
from mpgraph.passmgr import Facts, Pass


@dataclass(frozen=True)
class Count:
    nodes: int


def small_model() -> ir.Model:
    """x -> Relu -> Neg -> y."""
    return ir.load(
        onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["": 20]>
        agraph (float[4] x) => (float[4] y) {
            h = Relu(x)
            y = Neg(h)
        }
    """)
    )


@dataclass(frozen=True)
class CountNodes(Pass):
    name: ClassVar[str] = "count-nodes"
    provides: ClassVar[tuple[type, ...]] = (Count,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        facts.put(Count(len(model.graph)))
        return False


@dataclass(frozen=True)
class Rename(Pass):
    name: ClassVar[str] = "rename"
    requires: ClassVar[tuple[type, ...]] = (Count,)

    prefix: str = "n"

    def run(self, model: ir.Model, facts: Facts) -> bool:
        count = facts.get(Count).nodes
        names = [f"{self.prefix}{index}" for index in range(count)]
        modified = names != [node.name for node in model.graph]
        for name, node in zip(names, model.graph, strict=True):
            node.name = name
        return modified


@dataclass(frozen=True)
class Explode(Pass):
    name: ClassVar[str] = "explode"

    def run(self, model: ir.Model, facts: Facts) -> bool:
        model.graph.doc_string = "half done"
        raise ZeroDivisionError("of course")


@dataclass(frozen=True)
class BreakOrder(Pass):
    """Leaves the second node before the first, whose value it reads."""

    name: ClassVar[str] = "break-order"

    def run(self, model: ir.Model, facts: Facts) -> bool:
        first, second = list(model.graph)
        model.graph.remove(second)
        model.graph.insert_before(first, second)
        return True
