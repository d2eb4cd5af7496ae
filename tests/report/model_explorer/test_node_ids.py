"""Ids of nodes as the ONNX adapter of Model Explorer gives them."""

from __future__ import annotations

import onnx
import pytest

import models
from mpgraph import ir
from mpgraph.report.model_explorer.node_ids import find_places

CONTROL_FLOW = """
<ir_version: 10, opset_import: ["": 20, "l": 1]>
net (float[2] x, bool c, int64 n) => (float[2] y) <float[2] w = {1, 2}> {
    [if] a = If (c) <
        then_branch = yes () => (float[2] t) {
            [add] s = Add (x, w)
            [inner] t = If (c) <
                then_branch = deep () => (float[2] d) { [neg] d = Neg (s) },
                else_branch = flat () => (float[2] f) { [abs] f = Abs (s) }
            >
        },
        else_branch = no () => (float[2] e) { [loop] e = Loop (n, c, x) <
            body = step (int64 i, bool k, float[2] v) => (bool m, float[2] u) {
                m = Identity (k)
                [sqrt] u = Sqrt (v)
            }
        > }
    >
    [call] y = l.twice (a)
}
<domain: "l", opset_import: ["": 20]> twice (p) => (q) {
    [one] r = Relu (p)
    [two] q = Relu (r)
}
"""


def ids(model: ir.Model) -> list[tuple[str, str]]:
    """(graph, id) of every node that is drawn."""
    places = find_places(model).nodes
    return [(places[node].graph, places[node].item) for node in ir.nodes(model) if node in places]


def test_branches_are_drawn_with_their_if_and_loops_by_themselves() -> None:
    model = ir.load(onnx.parser.parse_model(CONTROL_FLOW))
    loop = "if/else_branch/loop"
    assert sorted(ids(model)) == sorted(
        [
            ("net", "if"),
            ("net", "if/then_branch/add"),
            ("net", "if/then_branch/inner"),
            ("net", "if/then_branch/inner/then_branch/neg"),
            ("net", "if/then_branch/inner/else_branch/abs"),
            ("net", loop),
            (f"{loop}/body", "node"),
            (f"{loop}/body", "sqrt"),
            ("net", "call"),
            ("[function]l::twice", "one"),
            ("[function]l::twice", "two"),
        ]
    )


def test_inputs_outputs_and_initializers_are_nodes() -> None:
    model = ir.load(onnx.parser.parse_model(CONTROL_FLOW))
    found = {(place.graph, place.item) for place in find_places(model).values.values()}
    body = {("if/else_branch/loop/body", f"[value] {name}") for name in "ikvmu"}
    function = {("[function]l::twice", f"[value] {name}") for name in "pq"}
    assert found == {("net", f"[value] {name}") for name in "xcnyw"} | body | function


def test_nodes_without_a_name_of_their_own_get_one() -> None:
    model = ir.load(models.build("unnamed"))
    for node, name in zip(model.graph, ("", "twice", "", "twice", "node"), strict=False):
        node.name = name
    assert [item for _, item in ids(model)][:5] == ["node", "twice", "node_1", "twice_1", "node_2"]


def test_a_main_graph_without_a_name() -> None:
    model = ir.load(models.build("mlp"))
    model.graph.name = None
    assert {graph for graph, _ in ids(model)} == {"<main>"}


@pytest.mark.parametrize("name", models.builders())
def test_no_two_things_share_a_place(name: str) -> None:
    model = ir.load(models.build(name))
    before = ir.print_model(model, node_names=True)
    places = find_places(model)
    assert len(set(places.nodes.values())) == len(places.nodes)
    assert not set(places.nodes.values()) & set(places.values.values())
    assert ir.print_model(model, node_names=True) == before
