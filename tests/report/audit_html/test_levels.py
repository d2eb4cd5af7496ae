from __future__ import annotations

from collections.abc import Iterator

import pytest

from mpgraph.auditing import AuditReport
from mpgraph.auditing.graph_index import GraphIndex
from mpgraph.auditing.matching import match_nodes
from mpgraph.report.audit_html.levels import MOST_ITEMS, Level, follow_levels, view_levels
from tests.report.audit_samples import inserted, node, report_of, transformer


def levels_of(report: AuditReport) -> Level:
    return view_levels(report.layers, GraphIndex(report))


def walk(level: Level) -> Iterator[Level]:
    yield level
    for child in level.children:
        yield from walk(child)


@pytest.mark.parametrize("scoped", [True, False])
@pytest.mark.parametrize("count", [10, 290, 5000])
def test_every_node_stands_once_and_no_level_is_long(count: int, scoped: bool) -> None:
    model = levels_of(transformer(count, scoped=scoped))
    assert sorted(model.all_nodes()) == list(range(count))
    for level in walk(model):
        assert len(level.nodes) + len(level.children) <= MOST_ITEMS


def test_layers_stay_as_the_report_has_them() -> None:
    model = levels_of(transformer(60))
    (encoder,) = model.children
    assert [child.name for child in encoder.children] == [f"layers.{at}" for at in range(6)]
    assert {level.kind for level in walk(model)} == {"layer"}
    assert encoder.totals is not None
    assert encoder.totals.casts == 12


def test_a_long_level_becomes_numbered_parts_in_graph_order() -> None:
    model = levels_of(transformer(1000, scoped=False))
    names = [child.name for child in model.children]
    assert names == [f"part {at} of {len(names)}" for at in range(1, len(names) + 1)]
    assert [node for child in model.children for node in child.nodes] == list(range(1000))
    # The stack of blocks is cut between blocks, where one value is alive instead of two.
    assert all(child.nodes[0] % 10 in (0, 4) for child in model.children)


def test_a_large_layer_stays_beside_the_parts_of_what_is_around_it() -> None:
    nodes = [
        node(
            f"main#{at}", "Relu", [f"v{at}"], [f"v{at + 1}"], scope="big" if 400 <= at < 700 else ""
        )
        for at in range(1100)
    ]
    model = levels_of(report_of(nodes))
    kinds = [child.kind for child in model.children]
    assert kinds.count("layer") == 1
    assert next(child for child in model.children if child.kind == "layer").name == "big"


def test_graphs_inside_nodes_are_levels_of_their_own() -> None:
    inner = "main/If_1.then_branch"
    innermost = f"{inner}/Loop_0.body"
    nodes = [
        node("main#0", "Relu", ["x"], ["h"]),
        node("main#1", "If", ["h"], ["y"], name=""),
        node(f"{inner}#0", "Loop", ["h"], ["a"], graph=inner, name=""),
        node(f"{innermost}#0", "Add", ["h"], ["b"], graph=innermost),
    ]
    model = levels_of(report_of(nodes))
    (branch,) = model.children
    assert (branch.kind, branch.name, branch.owner, branch.nodes) == (
        "graph",
        "If_1.then_branch",
        1,
        (2,),
    )
    (body,) = branch.children
    assert (body.name, body.owner, body.nodes) == ("Loop_0.body", 2, (3,))


def test_what_has_no_layer_goes_to_that_of_its_neighbours() -> None:
    scopes = ["a/b", "a/b", "a/c", "a/c", "d", "d"]
    nodes = [
        node(f"main#{at}", "Relu", [f"v{at}"], [f"v{at + 1}"], scope=scope)
        for at, scope in enumerate(scopes)
    ]
    nodes.append(node("main#6", "Constant", [], ["k"]))
    nodes.append(node("main#7", "FusedGelu", ["v1", "k"], ["g"]))
    nodes.append(node("main#8", "Add", ["g", "v2"], ["s"], scope="a/c"))
    model = levels_of(report_of(nodes))
    homes = {each: level.path for level in walk(model) for each in level.nodes}
    assert homes[7] == homes[6] == "a"
    assert homes[8] == "a/c"


def test_neighbours_tell_nothing_where_most_nodes_have_no_layer() -> None:
    nodes = [
        node(f"main#{at}", "Relu", [f"v{at}"], [f"v{at + 1}"], scope="a" if at == 0 else "")
        for at in range(9)
    ]
    assert levels_of(report_of(nodes)).nodes == tuple(range(1, 9))


def test_a_second_model_is_cut_as_the_first() -> None:
    before = transformer(1000, scoped=False)
    after = inserted(before, 500)
    first, match = levels_of(before), match_nodes(GraphIndex(before), GraphIndex(after)).twins
    second = follow_levels(after.layers, GraphIndex(after), first, match)
    assert [child.name for child in second.children] == [child.name for child in first.children]
    assert sorted(second.all_nodes()) == list(range(1001))
    for one, other in zip(first.children, second.children, strict=True):
        assert {match[each] for each in other.nodes} - {-1} == set(one.nodes)
