from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import models
import mpgraph
from mpgraph import ir
from mpgraph.auditing import AuditReport, NodeFact, ValueFact
from mpgraph.auditing.graph_index import GraphIndex
from mpgraph.auditing.matching import match_nodes
from tests.report.audit_samples import inserted, node, renamed, report_of, transformer


def twins(before: AuditReport, after: AuditReport) -> list[int]:
    return list(match_nodes(GraphIndex(before), GraphIndex(after)).twins)


def with_input(nodes: list[NodeFact], *names: str) -> AuditReport:
    values = [ValueFact(name, "main", "input", "tensor(float)", "float32", None) for name in names]
    return replace(report_of(nodes), values=tuple(values))


def test_a_model_is_itself() -> None:
    report = transformer(40)
    assert twins(report, report) == list(range(40))


def test_an_inserted_node_moves_no_other() -> None:
    before = transformer(40, scoped=False)
    after = inserted(before, 20)
    assert twins(before, after) == [*range(20), -1, *range(20, 40)]


def test_a_renamed_node_is_known_by_what_it_writes() -> None:
    before = transformer(20, scoped=False)
    assert twins(before, renamed(before, "Add_3", "other")) == list(range(20))


def test_nodes_that_share_a_name_are_known_by_what_they_write() -> None:
    before = with_input(
        [
            node("main#0", "Relu", ["x"], ["a"], name="n"),
            node("main#1", "Relu", ["a"], ["b"], name="n"),
        ],
        "x",
    )
    after = replace(
        before,
        nodes=(replace(before.nodes[1], key="main#0"), replace(before.nodes[0], key="main#1")),
    )
    assert twins(before, after) == [1, 0]


def test_nodes_that_share_a_name_are_known_by_their_provenance() -> None:
    own = node("main#0", "Cast", ["x"], ["a"], name="n")
    made = replace(own, key="main#1", outputs=("b",), origin="insert-casts: policy")
    before = with_input([own, made], "x")
    swapped = [
        replace(made, key="main#0", outputs=("c",)),
        replace(own, key="main#1", outputs=("d",)),
    ]
    assert twins(before, with_input(swapped, "x")) == [1, 0]


def unnamed(prefix: str, *, cast: bool = False) -> AuditReport:
    """Two branches of one input whose values are all called otherwise."""
    source = f"{prefix}x"
    start = [node("main#0", "Cast", [source], [f"{prefix}low"], name="")] if cast else []
    read = f"{prefix}low" if cast else source
    rest = [
        ("Sigmoid", [read], [f"{prefix}b"]),
        ("Relu", [read], [f"{prefix}a"]),
        ("Add", [f"{prefix}a", f"{prefix}b"], [f"{prefix}c"]),
        ("Relu", [f"{prefix}c"], [f"{prefix}d"]),
    ]
    nodes = [
        node(f"main#{at + cast}", op_type, inputs, outputs, name="")
        for at, (op_type, inputs, outputs) in enumerate(rest)
    ]
    return with_input([*start, *nodes], source)


def test_nodes_without_names_are_known_by_their_operands() -> None:
    assert twins(unnamed("p"), unnamed("q")) == [0, 1, 2, 3]
    assert twins(unnamed("p"), unnamed("q", cast=True)) == [-1, 0, 1, 2, 3]
    assert twins(unnamed("p", cast=True), unnamed("q")) == [1, 2, 3, 4]


def test_nodes_behind_a_new_one_are_known_by_who_reads_them() -> None:
    before = with_input(
        [
            node("main#0", "Relu", ["x"], ["a"], name=""),
            node("main#1", "Neg", ["a"], ["b"], name=""),
            node("main#2", "Abs", ["b"], ["y"], name="last"),
        ],
        "x",
    )
    after = with_input(
        [
            node("main#0", "Mul", ["x", "x"], ["m"], name=""),
            node("main#1", "Relu", ["m"], ["n"], name=""),
            node("main#2", "Neg", ["n"], ["o"], name=""),
            node("main#3", "Abs", ["o"], ["y"], name="last"),
        ],
        "x",
    )
    assert twins(before, after) == [-1, 0, 1, 2]


def test_a_replaced_operator_is_known_by_what_it_writes_but_a_cast_replaces_nothing() -> None:
    before = with_input([node("main#0", "MatMul", ["x", "w"], ["y"], name="")], "x")
    packed = with_input([node("main#0", "MatMulNBits", ["x", "q", "s"], ["y"], name="")], "x")
    assert twins(before, packed) == [0]
    cast = with_input([node("main#0", "Cast", ["x"], ["y"], name="")], "x")
    assert twins(before, cast) == [-1]


def branch(place: int) -> AuditReport:
    """An If without a name, at a place, so that the path of its branch depends on it."""
    graph = f"main/If_{place}.then_branch"
    before = [node(f"main#{at}", "Relu", ["x"], [f"r{at}"]) for at in range(place)]
    nodes = [
        *before,
        node(f"main#{place}", "If", ["c"], ["y"], name=""),
        node(f"{graph}#0", "Neg", ["x"], ["z"], graph=graph, name=""),
    ]
    return with_input(nodes, "x", "c")


def test_inner_graphs_follow_the_node_that_holds_them() -> None:
    assert twins(branch(0), branch(2)) == [-1, -1, 0, 1]


@pytest.mark.parametrize("name", models.builders())
def test_real_graphs_without_names_match_themselves(name: str) -> None:
    model = models.build(name)
    report = mpgraph.audit(model, ignore=["MPG"], weights=False)
    anonymous = replace(report, nodes=tuple(replace(each, name="") for each in report.nodes))
    assert twins(anonymous, anonymous) == list(range(len(report.nodes)))


@settings(max_examples=25, derandomize=True)
@given(st.data())
def test_no_node_has_two_likes(data: st.DataObject) -> None:
    """Names, values and operators at random, many of them shared."""

    def report() -> AuditReport:
        count = data.draw(st.integers(1, 12))
        return with_input(
            [
                node(
                    f"main#{at}",
                    data.draw(st.sampled_from(["Relu", "Add", "Cast"])),
                    [data.draw(st.sampled_from(["x", *(f"v{one}" for one in range(at))]))],
                    [f"v{at}"],
                    name=data.draw(st.sampled_from(["", "a", "b", "c"])),
                )
                for at in range(count)
            ],
            "x",
        )

    before, after = report(), report()
    found = twins(before, after)
    kept = [each for each in found if each >= 0]
    assert len(found) == len(after.nodes)
    assert len(kept) == len(set(kept))
    assert twins(before, before) == list(range(len(before.nodes)))


def test_a_model_with_all_names_changed_is_matched_by_its_structure() -> None:
    other = ir.load(models.build("residual_cnn"))
    for at, each in enumerate(ir.nodes(other)):
        each.name = f"renamed_{at}"
        for value in each.outputs:
            if not value.is_graph_output():
                value.name = f"value_{value.name}"
    before = mpgraph.audit(models.build("residual_cnn"), ignore=["MPG"])
    after = mpgraph.audit(other, ignore=["MPG"])
    assert twins(before, after) == list(range(len(before.nodes)))
