"""The graph that onnxruntime runs, as it saves it, and the profile of a run."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mpgraph import ir
from mpgraph.errors import VerificationError
from mpgraph.ir.files import read_proto

__all__ = ["FinalGraph", "FinalNode", "Profile", "read_graph", "read_profile"]

_KERNEL = "_kernel_time"


@dataclass(frozen=True, slots=True)
class FinalNode:
    """One node of the graph that onnxruntime runs."""

    name: str
    op_type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class FinalGraph:
    """The nodes of the graph that onnxruntime runs, subgraphs included, and its constants."""

    nodes: tuple[FinalNode, ...]
    constants: frozenset[str]


@dataclass(frozen=True)
class Profile:
    """The kernels of one run.

    Attributes:
        named: The provider of every kernel, by the name of its node; a nameless node counts under
            its operator and number, as in ``Mul_6``.
        by_operator: The providers that ran kernels of an operator.
    """

    named: dict[str, str] = field(default_factory=dict)
    by_operator: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def read_graph(path: Path) -> FinalGraph:
    """Read a graph that onnxruntime saved; not with ``ir.load``, whose checks it need not pass."""
    graph = read_proto(path).graph
    constants: set[str] = set()
    nodes = tuple(_nodes(graph, constants))
    return FinalGraph(nodes, frozenset(constants))


def read_profile(path: Path) -> Profile:
    """Read the profile that onnxruntime wrote.

    Raises:
        VerificationError: It is not the JSON that onnxruntime writes.
    """
    profile = Profile()
    try:
        for event in json.loads(path.read_text(encoding="utf-8")):
            if event["cat"] != "Node" or not event["name"].endswith(_KERNEL):
                continue
            given = event["args"]
            profile.named[event["name"].removesuffix(_KERNEL)] = given["provider"]
            profile.by_operator[given["op_name"]].add(given["provider"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise VerificationError("profile", f"it cannot be read: {error!r}") from error
    return profile


def _nodes(graph: Any, constants: set[str]) -> Iterator[FinalNode]:
    constants.update(tensor.name for tensor in graph.initializer)
    for node in graph.node:
        yield FinalNode(node.name, node.op_type, tuple(node.input), tuple(node.output))
        for attribute in node.attribute:
            if attribute.type == ir.AttributeType.GRAPH:
                yield from _nodes(attribute.g, constants)
            for inner in attribute.graphs:
                yield from _nodes(inner, constants)
