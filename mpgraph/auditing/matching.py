"""Which node of one model is which of another."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mpgraph.auditing.facts import NodeFact
from mpgraph.auditing.graph_index import GraphIndex
from mpgraph.auditing.links import first_readers, is_carrier, sources

__all__ = ["Matching", "match_nodes"]

_Key = Callable[[NodeFact], Hashable]


def match_nodes(before: GraphIndex, after: GraphIndex) -> Matching:
    """Find for each node of ``after`` the same one in ``before``, in linear time.

    In graphs that are the same, nodes are matched by the name that they alone have, then by name,
    operator and provenance together, then by operator and the name of the first value that they
    write, then by structure: the same operator on the same operands, or read by the same node,
    whatever casts and quantizers stand between. What is left is matched by the value it writes,
    with another operator. Inner graphs are the same if their nodes are.
    """
    matcher = _Matcher(before, after)
    matcher.run()
    return Matching(before, after, matcher.twins, matcher.ids_before, matcher.ids_after)


@dataclass(frozen=True)
class Matching:
    """Nodes of two models, and which of them are the same.

    Attributes:
        before: The first model.
        after: The second model.
        twins: For each node of ``after`` the number of its like in ``before``, or -1.
        ids_before: What a value of ``before`` is, where that is not its own number.
        ids_after: What a value of ``after`` is: the number of its like in ``before``, or for a
            constant of another name its shape; unknown values are left out.
    """

    before: GraphIndex
    after: GraphIndex
    twins: Sequence[int]
    ids_before: Mapping[int, Hashable] = field(repr=False)
    ids_after: Mapping[int, Hashable] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Pair:
    """The numbers of the nodes of two graphs that are the same."""

    before: Sequence[int]
    after: Sequence[int]


class _Matcher:
    """The state of a search: what was matched so far."""

    def __init__(self, before: GraphIndex, after: GraphIndex) -> None:
        self._before, self._after = before, after
        self._sources_before, self._sources_after = sources(before), sources(after)
        self._readers_before, self._readers_after = first_readers(before), first_readers(after)
        self.twins = [-1] * len(after.nodes)
        self._taken = [False] * len(before.nodes)
        self.ids_before: dict[int, Hashable] = {}
        self.ids_after: dict[int, Hashable] = {}

    def run(self) -> None:
        nodes_before, nodes_after = _by_graph(self._before), _by_graph(self._after)
        outer_before, outer_after = _outer_values(self._before), _outer_values(self._after)
        inner = {self._place(self._before, graph): graph for graph in nodes_before}
        for graph, numbers in nodes_after.items():
            # The graphs around this one come first, so the node that holds it is known.
            owner, label = self._place(self._after, graph)
            place = (self.twins[owner], label) if isinstance(owner, int) else (owner, label)
            twin = inner.get(place, graph)
            self._match_outer(outer_before.get(twin, ()), outer_after.get(graph, ()))
            self._match_graph(_Pair(nodes_before.get(twin, ()), numbers))

    @staticmethod
    def _place(index: GraphIndex, graph: str) -> tuple[int | str, str]:
        """The node that holds a graph and the attribute that it is; its own name for others."""
        owner = index.owner(graph)
        return (owner, graph.rpartition(".")[2]) if owner >= 0 else (graph, "")

    def _match_outer(self, before: Iterable[int], after: Iterable[int]) -> None:
        """Inputs by name, then by place; constants by name, the others count by their shapes."""
        values = self._before.values, self._after.values
        names = {values[0][number].name: number for number in before}
        rest_after = []
        for number in after:
            twin = names.pop(values[1][number].name, None)
            if twin is None:
                rest_after.append(number)
            else:
                self.ids_after[number] = twin
        sides = (self.ids_before, names.values()), (self.ids_after, rest_after)
        inputs = [
            [number for number in rest if values[side][number].kind == "input"]
            for side, (_, rest) in enumerate(sides)
        ]
        if len(inputs[0]) == len(inputs[1]):
            self.ids_after.update(zip(inputs[1], inputs[0], strict=True))
        for side, (ids, rest) in enumerate(sides):
            for number in rest:
                if values[side][number].kind == "initializer":
                    ids[number] = "constant", values[side][number].shape

    def _match_graph(self, pair: _Pair) -> None:
        for key in (_name, _provenance, _operator_and_result):
            self._match_unique(pair, key)
        self._match_operands(pair)
        self._match_readers(pair)
        self._match_operands(pair)
        self._match_unique(pair, _result)

    def _match(self, before: int, after: int) -> None:
        self.twins[after] = before
        self._taken[before] = True
        written = zip(self._before.outputs[before], self._after.outputs[after], strict=False)
        self.ids_after.update((now, was) for was, now in written if was >= 0 and now >= 0)

    def _free(self, pair: _Pair) -> tuple[list[int], list[int]]:
        return (
            [number for number in pair.before if not self._taken[number]],
            [number for number in pair.after if self.twins[number] < 0],
        )

    def _match_unique(self, pair: _Pair, key: _Key) -> None:
        """Matches what has the same key and alone has it; the key None is none."""
        before, after = self._free(pair)
        found = dict(_once((key(self._before.nodes[number]), number) for number in before))
        for wanted, number in _once((key(self._after.nodes[number]), number) for number in after):
            if wanted in found:
                self._match(found[wanted], number)

    def _match_operands(self, pair: _Pair) -> None:
        """Matches the same operator on the same operands, in order."""
        before, after = self._free(pair)
        waiting: dict[Hashable, deque[int]] = {}
        for number in before:
            operands = [self._id_before(value) for value in self._before.inputs[number]]
            if operands:
                key = _operation(self._before.nodes[number]), _trimmed(operands)
                waiting.setdefault(key, deque()).append(number)
        for number in after:
            operands = [self._id_after(value) for value in self._after.inputs[number]]
            if operands and None not in operands:
                key = _operation(self._after.nodes[number]), _trimmed(operands)
                if found := waiting.get(key):
                    self._match(found.popleft(), number)

    def _match_readers(self, pair: _Pair) -> None:
        """Matches the same operator whose result is the same operand of the same node."""
        before, after = self._free(pair)
        waiting: dict[Hashable, deque[int]] = {}
        for number in reversed(before):
            for output in self._before.outputs[number][:1]:
                if output >= 0 and (reader := self._readers_before[output]) is not None:
                    key = _operation(self._before.nodes[number]), reader
                    waiting.setdefault(key, deque()).append(number)
        for number in reversed(after):
            for output in self._after.outputs[number][:1]:
                if output >= 0 and (reader := self._readers_after[output]) is not None:
                    twin = self.twins[reader[0]]
                    key = _operation(self._after.nodes[number]), (twin, reader[1])
                    if twin >= 0 and (found := waiting.get(key)):
                        self._match(found.popleft(), number)

    def _id_before(self, value: int) -> Hashable:
        source = self._sources_before[value] if value >= 0 else -1
        return self.ids_before.get(source, source)

    def _id_after(self, value: int) -> Hashable:
        """What an operand is; None where that is unknown."""
        return self.ids_after.get(self._sources_after[value]) if value >= 0 else -1


def _by_graph(index: GraphIndex) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, node in enumerate(index.nodes):
        found.setdefault(node.graph, []).append(number)
    return found


def _outer_values(index: GraphIndex) -> dict[str, list[int]]:
    """By graph, the values that no node of it writes."""
    found: dict[str, list[int]] = {}
    for number, value in enumerate(index.values):
        if value.kind in ("input", "initializer"):
            found.setdefault(value.graph, []).append(number)
    return found


def _once(keyed: Iterable[tuple[Hashable, int]]) -> Iterator[tuple[Hashable, int]]:
    entries = [entry for entry in keyed if entry[0] is not None]
    counts = Counter(key for key, _ in entries)
    return (entry for entry in entries if counts[entry[0]] == 1)


def _name(node: NodeFact) -> Hashable:
    return node.name or None


def _provenance(node: NodeFact) -> Hashable:
    return (node.name, node.op_type, node.origin) if node.name else None


def _operator_and_result(node: NodeFact) -> Hashable:
    written = next(filter(None, node.outputs), None)
    return written and (node.domain, node.op_type, written)


def _result(node: NodeFact) -> Hashable:
    written = next(filter(None, node.outputs), None)
    return written and (is_carrier(node), written)


def _operation(node: NodeFact) -> Hashable:
    """The operator; of what only changes the form of a value, the dtype too."""
    return node.domain, node.op_type, node.dtype if is_carrier(node) else ""


def _trimmed(operands: list[Hashable]) -> tuple[Hashable, ...]:
    """Operands without those left out at the end."""
    while operands and operands[-1] == -1:
        operands.pop()
    return tuple(operands)
