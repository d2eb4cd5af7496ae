from __future__ import annotations

from dataclasses import replace

from mpgraph.auditing import AuditReport
from mpgraph.report.audit_html.graph_index import GraphIndex
from mpgraph.report.audit_html.matching import Change, changes, match_nodes
from tests.report.audit_samples import inserted, node, renamed, report_of, transformer


def found(before: AuditReport, after: AuditReport) -> list[Change]:
    indexes = GraphIndex(before), GraphIndex(after)
    return list(changes(before, after, indexes, match_nodes(before, after)))


def test_nothing_changed() -> None:
    report = transformer(40)
    assert match_nodes(report, report) == list(range(40))
    assert found(report, report) == []


def test_an_inserted_node_moves_no_other() -> None:
    before = transformer(40, scoped=False)
    after = inserted(before, 20)
    assert found(before, after) == [Change("inserted", -1, 20, "", "Cast")]
    assert found(after, before) == [Change("removed", 20, -1, "Cast", "")]


def test_a_renamed_node_is_known_by_what_it_writes() -> None:
    before = transformer(20, scoped=False)
    assert found(before, renamed(before, "Add_3", "other")) == []


def test_nodes_that_share_a_name_are_known_by_what_they_write() -> None:
    before = report_of(
        [
            node("main#0", "Relu", ["x"], ["a"], name="n"),
            node("main#1", "Relu", ["a"], ["b"], name="n"),
        ]
    )
    after = replace(
        before,
        nodes=(replace(before.nodes[1], key="main#0"), replace(before.nodes[0], key="main#1")),
    )
    assert match_nodes(before, after) == [1, 0]


def test_dtype_storage_and_provider_are_told_apart() -> None:
    before = transformer(10, low="float32", provider="CPUExecutionProvider")
    after = transformer(10, low="float16", provider="CUDAExecutionProvider")
    kinds = {(each.kind, each.old, each.new) for each in found(before, after) if each.before == 0}
    assert kinds == {
        ("dtype", "float32", "float16"),
        ("storage", "float32", "float16"),
        ("provider", "CPUExecutionProvider", "CUDAExecutionProvider"),
    }


def test_an_unknown_placement_is_no_move() -> None:
    before, after = transformer(10), transformer(10, provider="CPUExecutionProvider")
    assert found(before, after) == []
