"""From the kernels back to every node of the model, also those that no kernel has the name of."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from mpgraph import ir
from mpgraph.runtime.placement.kernels import FoundKernel
from mpgraph.runtime.placement.marks import Marked
from mpgraph.runtime.placement.result import State

__all__ = ["Trace", "trace"]

# How onnxruntime names the nodes of a branch that was decided at load time.
_INLINED = re.compile(r"_if_(then_branch|else_branch)")
# A value that vanished can have many readers; a few of them tell where it went.
_MOST_KERNELS = 16


@dataclass(frozen=True, slots=True)
class Trace:
    """What became of a node, and the indices of the kernels that compute it."""

    state: State
    kernels: tuple[int, ...] = ()


_FOLDED, _REMOVED = Trace("folded"), Trace("removed")


def trace(
    marked: Marked,
    kernels: Sequence[FoundKernel],
    constants: frozenset[str],
    recorded: Mapping[int, str],
) -> list[Trace]:
    """What became of each node, in the order of ``marked.nodes``.

    A node that kernels tell by their names is theirs. One that computes a constant was folded,
    unless a provider took it first, as with the DequantizeLinear of a weight. Any other vanished
    into what reads its results: the kernels of its readers compute it, or it was folded or removed
    with them.

    Args:
        marked: The model.
        kernels: What runs.
        constants: The names of the constants of the graph that runs.
        recorded: The numbers of the nodes that a provider took, with its name; what is fused
            later stays with it.
    """
    return _Tracing(marked, kernels, constants, recorded).run()


class _Tracing:
    def __init__(
        self,
        marked: Marked,
        kernels: Sequence[FoundKernel],
        constants: frozenset[str],
        recorded: Mapping[int, str],
    ) -> None:
        self._marked = marked
        self._kernels = kernels
        self._recorded = recorded
        self._numbers = {node: number for number, node in enumerate(marked.nodes)}
        self._claims: dict[int, list[int]] = defaultdict(list)
        for index, kernel in enumerate(kernels):
            for number in kernel.nodes:
                self._claims[number].append(index)
        self._saved = {number for name in constants for number in marked.computed(name)}
        self._holders = self._holders_of_outputs()
        self._dead = self._dead_branches()
        self._constant = self._constant_nodes() - set(recorded)
        self._found: dict[int, Trace] = {}

    def run(self) -> list[Trace]:
        for number in range(len(self._marked.nodes)):
            self._resolve(number)
        return [self._found[number] for number in range(len(self._marked.nodes))]

    def _resolve(self, first: int) -> None:
        """Not recursive: a chain of nodes without kernels can be longer than Python's stack."""
        stack = [first]
        while stack:
            number = stack[-1]
            told = self._told(number)
            readers = [] if told else self._readers(number)
            waiting = [reader for reader in readers if reader not in self._found]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            self._found[number] = told or self._with_readers(number, readers)

    def _told(self, number: int) -> Trace | None:
        """What is certain about a node by itself."""
        claims = self._claims.get(number)
        if claims:
            kept = tuple(index for index in claims if self._keeps(index, number))
            return (
                Trace("kept", kept)
                if kept
                else Trace("fused", self._of_its_provider(number, claims))
            )
        if number in self._saved or number in self._constant:
            return _FOLDED
        return _REMOVED if number in self._dead else None

    def _keeps(self, index: int, number: int) -> bool:
        """Whether a kernel has the operator and the name of a node, and the name of no other."""
        kernel = self._kernels[index]
        is_alike = kernel.op_type == self._marked.nodes[number].op_type
        return is_alike and self._marked.named(kernel.name) == [number]

    def _of_its_provider(self, number: int, kernels: Iterable[int]) -> tuple[int, ...]:
        """Those of the kernels that the provider which took the node can have made of it."""
        taken = self._recorded.get(number)
        fitting = (one for one in kernels if taken in (None, self._kernels[one].provider))
        return tuple(islice(fitting, _MOST_KERNELS))

    def _with_readers(self, number: int, readers: list[int]) -> Trace:
        found = [self._found[reader] for reader in readers]
        kernels = dict.fromkeys(index for one in found for index in one.kernels)
        if kernels:
            fitting = self._of_its_provider(number, kernels)
            return Trace("fused", fitting or self._of_its_provider(number, self._before(number)))
        return _FOLDED if _FOLDED in found else _REMOVED

    def _before(self, number: int) -> Iterator[int]:
        """The kernels of what a node reads."""
        for value in self._marked.nodes[number].inputs:
            producer = None if value is None else value.producer()
            if producer is not None:
                yield from self._claims.get(self._numbers[producer], ())

    def _readers(self, number: int) -> list[int]:
        readers: dict[int, None] = {}
        for value in self._marked.nodes[number].outputs:
            readers.update((self._numbers[use.node], None) for use in value.uses())
            readers.update((holder, None) for holder in self._holders.get(value, ()))
        return list(readers)

    def _holders_of_outputs(self) -> dict[ir.Value, list[int]]:
        """For each output of a subgraph or function, the nodes that hold or call it."""
        calls: dict[ir.OperatorIdentifier, list[int]] = defaultdict(list)
        for number, node in enumerate(self._marked.nodes):
            if node.op_identifier() in self._marked.model.functions:
                calls[node.op_identifier()].append(number)
        holders: dict[ir.Value, list[int]] = {}
        for scope in self._marked.scopes:
            if scope.owner is not None:
                numbers = [self._numbers[scope.owner]]
            elif scope.function is not None:
                numbers = calls[scope.function.identifier()]
            else:
                continue
            holders.update((value, numbers) for value in scope.graph.outputs)
        return holders

    def _dead_branches(self) -> set[int]:
        """The nodes of branches that were not taken when an If was decided at load time."""
        alive = self._living_graphs()
        dead: set[int] = set()
        for scope in self._marked.scopes:
            owner = scope.owner
            if owner is None or scope.graph in alive:
                continue
            number = self._numbers[owner]
            is_decided = owner.op_type == "If" and number not in self._recorded
            if is_decided or number in dead:
                dead.update(self._numbers[node] for node in scope.graph)
        return dead

    def _living_graphs(self) -> set[ir.Graph]:
        """The graphs of which something is left, and those around them."""
        left = {self._marked.nodes[number].graph for number in (*self._claims, *self._saved)}
        for kernel in self._kernels:
            found = _INLINED.match(kernel.name)
            if found is None:
                continue
            for number in kernel.nodes:
                node = self._marked.nodes[number]
                if node.op_type == "If":
                    left.add(node.attributes[found.group(1)].as_graph())
        owners = {scope.graph: scope.owner for scope in self._marked.scopes}
        alive: set[ir.Graph] = set()
        for graph in left:
            while isinstance(graph, ir.Graph) and graph not in alive:
                alive.add(graph)
                owner = owners.get(graph)
                graph = None if owner is None else owner.graph
        return alive

    def _constant_nodes(self) -> set[int]:
        """The nodes that depend on no input of the model, of a loop or of a function."""
        variable = {
            value
            for scope in self._marked.scopes
            for value in (
                scope.function.inputs if scope.function is not None else scope.graph.inputs
            )
        }
        constant: set[int] = set()
        for number, node in enumerate(self._marked.nodes):
            if ir.holds_graphs(node):
                continue
            producers = [value.producer() for value in node.inputs if value is not None]
            free = [v for v in node.inputs if v is not None and v.producer() is None]
            if variable.isdisjoint(free) and all(
                self._numbers[one] in constant for one in producers if one is not None
            ):
                constant.add(number)
        return constant
