"""The kernels that run: which provider has each, and which nodes of the model it computes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mpgraph.runtime.assignment import AssignedNode
from mpgraph.runtime.placement.graph_nodes import FinalGraph, FinalNode, Profile
from mpgraph.runtime.placement.marks import Marked
from mpgraph.runtime.placement.result import Inserted
from mpgraph.runtime.providers import CPU_PROVIDER

__all__ = ["COMPILED", "FoundKernel", "compiled_kernels", "find_kernels"]

COMPILED = "compiled"
"""Stands for the operator of a kernel that a provider compiled from a piece of the graph."""

# How onnxruntime names the casts around a kernel that lacks a dtype.
_CAST = "InsertedPrecisionFreeCast_"
_MEMCPY = frozenset({"MemcpyFromHost", "MemcpyToHost"})
# Put around convolutions whose kernels want another layout.
_LAYOUT = frozenset({"ReorderInput", "ReorderOutput", "Transpose"})


@dataclass(frozen=True, slots=True)
class FoundKernel:
    """One kernel; ``nodes`` are numbers of nodes of the model."""

    name: str
    op_type: str
    provider: str
    nodes: tuple[int, ...]
    inserted: Inserted
    ran: bool


def find_kernels(
    graph: FinalGraph,
    assigned: Sequence[AssignedNode],
    profile: Profile,
    marked: Marked,
    provider: str,
) -> tuple[FoundKernel, ...]:
    """The kernels of a saved graph, in its order."""
    providers = _Providers(assigned, profile, marked, provider)
    inserted = [_inserted(node, marked) for node in graph.nodes]
    owned = _owned(graph.nodes, inserted, marked)
    return tuple(
        FoundKernel(
            node.name,
            node.op_type,
            providers.of(node, numbers, kind),
            numbers,
            kind,
            node.name in profile.named,
        )
        for node, kind, numbers in zip(graph.nodes, inserted, owned, strict=True)
    )


def compiled_kernels(
    assigned: Sequence[AssignedNode], profile: Profile, marked: Marked
) -> tuple[FoundKernel, ...]:
    """The kernels of a provider that compiles: one per piece it took, and the nodes it left."""
    pieces: dict[int, list[AssignedNode]] = defaultdict(list)
    for node in assigned:
        pieces[node.group].append(node)
    ran = set(profile.named.values())
    found = []
    for group, nodes in pieces.items():
        provider = nodes[0].provider
        numbers = tuple(number for node in nodes for number in marked.named(node.name))
        if provider == CPU_PROVIDER:
            node = nodes[0]
            has_run = node.name in profile.named
            found.append(FoundKernel(node.name, node.op_type, provider, numbers, "", has_run))
        else:
            name = f"piece {group}"
            found.append(FoundKernel(name, COMPILED, provider, numbers, "", provider in ran))
    return tuple(found)


def _inserted(node: FinalNode, marked: Marked) -> Inserted:
    if node.op_type in _MEMCPY:
        return "memcpy"
    if node.name.startswith(_CAST):
        return "cast"
    if marked.named(node.name):
        return ""
    if node.op_type == "Cast" and not any(map(marked.computed, node.outputs)):
        return "cast"
    return "layout" if node.op_type in _LAYOUT else ""


def _owned(
    nodes: Sequence[FinalNode], inserted: Sequence[Inserted], marked: Marked
) -> list[tuple[int, ...]]:
    """For each kernel the nodes of the model that its name and the names of its results tell.

    A kernel that tells none, such as one of the body of an expanded operator, belongs to what the
    first of its readers belongs to.
    """
    owned: list[tuple[int, ...]] = [()] * len(nodes)
    readers: Mapping[str, list[int]] = _readers(nodes)
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        told: list[int] = []
        if not inserted[index]:
            told.extend(marked.named(node.name))
            for name in (node.name, *node.outputs):
                told.extend(marked.computed(name))
        if not told:
            after = (reader for output in node.outputs for reader in readers.get(output, ()))
            told = list(next((owned[reader] for reader in after if owned[reader]), ()))
        owned[index] = tuple(dict.fromkeys(told))
    return [() if kind else numbers for kind, numbers in zip(inserted, owned, strict=True)]


def _readers(nodes: Sequence[FinalNode]) -> dict[str, list[int]]:
    readers: dict[str, list[int]] = defaultdict(list)
    for index, node in enumerate(nodes):
        for name in node.inputs:
            readers[name].append(index)
    return readers


class _Providers:
    """Answers which provider runs a kernel: by the profile, else by the record."""

    def __init__(
        self, assigned: Sequence[AssignedNode], profile: Profile, marked: Marked, provider: str
    ) -> None:
        self._profile = profile
        self._target = provider
        self._by_name: dict[str, str] = {}
        self._by_number: dict[int, str] = {}
        self._by_operator: dict[str, set[str]] = defaultdict(set)
        for node in assigned:
            self._by_operator[node.op_type].add(node.provider)
            if node.name:
                self._by_name[node.name] = node.provider
            for number in marked.named(node.name):
                self._by_number[number] = node.provider

    def of(self, node: FinalNode, numbers: tuple[int, ...], inserted: Inserted) -> str:
        known = self._profile.named.get(node.name) or self._by_name.get(node.name)
        if known:
            return known
        if inserted == "memcpy" or self._target == CPU_PROVIDER:
            return self._target
        told = {self._by_number[number] for number in numbers if number in self._by_number}
        for candidates in (
            told,
            self._by_operator.get(node.op_type, set()),
            self._profile.by_operator.get(node.op_type, set()),
        ):
            if len(candidates) == 1:
                return next(iter(candidates))
        return ""
