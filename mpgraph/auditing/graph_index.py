"""Which values the nodes of an audit read and write, over all nesting levels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from mpgraph.auditing import AuditReport, NodeFact, ValueFact

__all__ = ["GraphIndex"]

MAIN = "main"


class GraphIndex:
    """Numbers for the nodes and values of a report, and the links between them.

    Attributes:
        nodes: The nodes of the report; their numbers are their positions.
        values: The values of the report, then those that only nodes mention.
        inputs: For each node the numbers of the values that it reads, -1 for left-out operands.
        outputs: For each node the numbers of the values that it writes, -1 for left-out ones.
        producers: For each value the number of the node that writes it, -1 for none.
        consumers: For each value the numbers of the nodes that read it.
    """

    def __init__(self, report: AuditReport) -> None:
        self.nodes = report.nodes
        self.values: list[ValueFact] = []
        self._numbers: dict[tuple[str, str], int] = {}
        for value in report.values:
            self._add(value)
        self.outputs = [
            [self._own(node.graph, name) for name in node.outputs] for node in report.nodes
        ]
        self.inputs = [
            [self.value_number(node.graph, name) for name in node.inputs] for node in report.nodes
        ]
        for weight in report.weights:
            self.value_number(weight.graph, weight.name)
        self.producers = [-1] * len(self.values)
        for number, outputs in enumerate(self.outputs):
            for written in outputs:
                if written >= 0:
                    self.producers[written] = number
        self.consumers: list[list[int]] = [[] for _ in self.values]
        for number, inputs in enumerate(self.inputs):
            for read in inputs:
                if read >= 0:
                    self.consumers[read].append(number)

    def value_number(self, graph: str, name: str) -> int:
        """The number of the value that a graph sees under a name; -1 for the empty name."""
        if not name:
            return -1
        for each in (graph, *self.enclosing(graph)):
            found = self._numbers.get((each, name))
            if found is not None:
                return found
        return self._own(graph, name)

    def node_number(self, key: str) -> int:
        """The number of the node with a key; -1 if there is none."""
        return self._keys.get(key, -1)

    def enclosing(self, graph: str) -> Sequence[str]:
        """The graphs around a graph, the nearest first."""
        return self._enclosing.get(graph, ())

    def owner(self, graph: str) -> int:
        """The number of the node that holds a subgraph; -1 for other graphs."""
        around = self.enclosing(graph)
        if not around:
            return -1
        label = graph[len(around[0]) + 1 :].rpartition(".")[0]
        return self._labels.get((around[0], label), -1)

    def graph_name(self, graph: str) -> str:
        """The last part of the path of a graph."""
        around = self.enclosing(graph)
        return graph[len(around[0]) + 1 :] if around else graph

    @cached_property
    def order(self) -> Sequence[int]:
        """For each node its place among all, what depends on constants alone beside its reader."""
        varying = [value.kind == "input" for value in self.values]
        for number, inputs in enumerate(self.inputs):
            if any(value >= 0 and varying[value] for value in inputs):
                for value in self.outputs[number]:
                    varying[value] = True
        places = list(range(len(self.nodes)))
        for number in reversed(places):
            outputs = [value for value in self.outputs[number] if value >= 0]
            if outputs and not any(varying[value] for value in outputs):
                readers = (places[reader] for value in outputs for reader in self.consumers[value])
                places[number] = max(number, min(readers, default=number))
        ranked = sorted(range(len(places)), key=lambda number: (places[number], number))
        order = [0] * len(ranked)
        for place, number in enumerate(ranked):
            order[number] = place
        return order

    @cached_property
    def _keys(self) -> dict[str, int]:
        return {node.key: number for number, node in enumerate(self.nodes)}

    @cached_property
    def _enclosing(self) -> dict[str, tuple[str, ...]]:
        graphs = dict.fromkeys(node.graph for node in self.nodes)
        graphs.update(dict.fromkeys(value.graph for value in self.values))
        # A longer path is the nearer one, and names of nodes may hold "/" themselves.
        by_length = sorted({MAIN, *graphs}, key=len, reverse=True)
        return {
            graph: tuple(each for each in by_length if graph.startswith(f"{each}/"))
            for graph in graphs
        }

    @cached_property
    def _labels(self) -> dict[tuple[str, str], int]:
        return {
            (node.graph, label): number
            for number, node in enumerate(self.nodes)
            for label in _labels(node)
        }

    def _own(self, graph: str, name: str) -> int:
        if not name:
            return -1
        number = self._numbers.get((graph, name))
        if number is None:
            number = self._add(ValueFact(name, graph, "intermediate", "", "", None))
        return number

    def _add(self, value: ValueFact) -> int:
        number = len(self.values)
        self.values.append(value)
        self._numbers.setdefault((value.graph, value.name), number)
        return number


def _labels(node: NodeFact) -> Iterator[str]:
    if node.name:
        yield node.name.strip("/")
    yield f"{node.op_type}_{node.key.rpartition('#')[2]}"
