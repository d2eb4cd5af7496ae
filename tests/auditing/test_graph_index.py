from __future__ import annotations

from dataclasses import replace

from mpgraph.auditing import AuditReport, NodeFact, ValueFact
from mpgraph.auditing.graph_index import GraphIndex
from tests.report.audit_samples import node, report_of


def nested() -> AuditReport:
    """An If whose branch reads a value of the main graph and hides another."""
    branch = "main/block/If.then_branch"
    nodes = [
        node("main#0", "Relu", ["x"], ["h"]),
        node("main#1", "If", ["c"], ["y"], name="/block/If"),
        node(f"{branch}#0", "Add", ["h", "x"], ["z"], graph=branch),
    ]
    values = [
        ValueFact("x", "main", "input", "", "float32", None),
        ValueFact("c", "main", "input", "", "bool", None),
        ValueFact("x", branch, "initializer", "", "float32", ()),
    ]
    return replace(report_of(nodes), values=tuple(values))


def test_inner_graphs_see_outer_values_unless_they_have_their_own() -> None:
    index = GraphIndex(nested())
    outer, inner = index.inputs[2]
    assert index.producers[outer] == 0
    assert index.consumers[outer] == [2]
    assert index.values[inner].kind == "initializer"
    assert index.inputs[0] != [inner]


def test_a_graph_knows_the_node_that_holds_it() -> None:
    index = GraphIndex(nested())
    branch = index.nodes[2].graph
    assert index.owner(branch) == 1
    assert index.graph_name(branch) == "block/If.then_branch"
    assert index.owner("main") == -1


def test_unnamed_nodes_hold_graphs_too() -> None:
    nodes = [
        node("main#0", "Loop", [], ["y"], name=""),
        node("main/Loop_0.body#0", "Add", [], ["z"], graph="main/Loop_0.body"),
    ]
    assert GraphIndex(report_of(nodes)).owner("main/Loop_0.body") == 0


def test_left_out_operands_have_no_number() -> None:
    index = GraphIndex(report_of([node("main#0", "Clip", ["x", "", "m"], ["y"])]))
    assert index.inputs[0][1] == -1
    assert index.node_number("main#0") == 0
    assert index.node_number("gone#1") == -1


def test_constants_stand_beside_their_first_reader() -> None:
    nodes = [
        node("main#0", "Constant", [], ["c"]),
        node("main#1", "Cast", ["c"], ["k"]),
        node("main#2", "Relu", ["x"], ["h"]),
        node("main#3", "Relu", ["h"], ["g"]),
        node("main#4", "Add", ["g", "k"], ["y"]),
    ]
    index = GraphIndex(with_input(nodes))
    assert sorted(range(5), key=index.order.__getitem__) == [2, 3, 0, 1, 4]


def with_input(nodes: list[NodeFact]) -> AuditReport:
    return replace(report_of(nodes), values=(ValueFact("x", "main", "input", "", "float32", None),))
