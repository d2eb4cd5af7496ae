"""The layer tree of a model, with sums per level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mpgraph import ir
from mpgraph.auditing.collect.quantization import QUANTIZERS
from mpgraph.auditing.collect.weights import Weights
from mpgraph.auditing.facts import LayerFact, NodeFact, Totals
from mpgraph.auditing.subject import Subject

__all__ = ["collect_layers"]

_SEPARATOR = "/"


def collect_layers(subject: Subject, nodes: Sequence[NodeFact], weights: Weights) -> LayerFact:
    """Build the layer tree; a constant counts once in every level that uses it.

    Args:
        subject: The model.
        nodes: The facts of its nodes, in the order of ``subject.nodes()``.
        weights: Its constants; those that nothing uses count in the root alone.
    """
    levels: dict[str, _Level] = {"": _Level("")}
    for fact in nodes:
        level = _level(levels, fact.scope)
        level.nodes.append(fact.key)
        for path in _upwards(fact.scope):
            levels[path].count(fact)
    for value, tensor in weights.tensors.items():
        paths = {path for use in value.uses() for path in _upwards(subject.module_paths[use.node])}
        for path in paths | {""}:
            levels[path].count_constant(tensor)
    return _built(levels)


@dataclass
class _Level:
    """One level while its nodes are counted."""

    path: str
    children: list[str] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    by_dtype: Counter[str] = field(default_factory=Counter)
    parameters: Counter[str] = field(default_factory=Counter)
    weight_bytes: Counter[str] = field(default_factory=Counter)
    multiply_accumulates: Counter[str] = field(default_factory=Counter)
    casts: int = 0
    quantizers: int = 0

    def count(self, fact: NodeFact) -> None:
        operator = fact.domain, fact.op_type
        if operator in QUANTIZERS:
            self.quantizers += 1
        elif operator in (("", "Cast"), ("", "CastLike")):
            self.casts += 1
        elif operator != ("", "Constant"):
            self.by_dtype[fact.dtype or "unknown"] += 1
        if fact.multiply_accumulates:
            self.multiply_accumulates[fact.dtype or "unknown"] += fact.multiply_accumulates

    def count_constant(self, tensor: ir.TensorProtocol) -> None:
        dtype = ir.dtype_name(tensor.dtype)
        self.parameters[dtype] += tensor.size
        self.weight_bytes[dtype] += tensor.nbytes

    def totals(self) -> Totals:
        return Totals(
            nodes=dict(self.by_dtype),
            parameters=dict(self.parameters),
            weight_bytes=dict(self.weight_bytes),
            multiply_accumulates=dict(self.multiply_accumulates),
            casts=self.casts,
            quantizers=self.quantizers,
        )


def _level(levels: dict[str, _Level], path: str) -> _Level:
    """The level of a path, made with those above it where they are not there."""
    missing: list[str] = []
    above = path
    while above not in levels:
        missing.append(above)
        above = above.rpartition(_SEPARATOR)[0]
    for new in reversed(missing):
        levels[new] = _Level(new)
        levels[new.rpartition(_SEPARATOR)[0]].children.append(new)
    return levels[path]


def _upwards(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition(_SEPARATOR)[0]
    yield ""


def _built(levels: Mapping[str, _Level]) -> LayerFact:
    built: dict[str, LayerFact] = {}
    for path in _deepest_first(levels):
        level = levels[path]
        built[path] = LayerFact(
            name=path.rpartition(_SEPARATOR)[2],
            path=path,
            totals=level.totals(),
            nodes=tuple(level.nodes),
            children=tuple(built[child] for child in level.children),
        )
    return built[""]


def _deepest_first(paths: Iterable[str]) -> list[str]:
    def depth(path: str) -> int:
        return path.count(_SEPARATOR) + bool(path)

    return sorted(paths, key=depth, reverse=True)
